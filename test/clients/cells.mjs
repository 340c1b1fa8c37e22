// SPDX-License-Identifier: MIT
// The cells whose answers are counted (tokens.mjs): those of the demo, of a day of analysis and of the galleries of
// plotting packages. `needs` is what a model must find in the texts of an answer, whatever they cost.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tests = join(dirname(fileURLToPath(import.meta.url)), '..');
const CO2 = 'input/co2.csv';

function call(tool, args, ...needs) {
    return { tool, args, needs };
}

function cell(language, code, ...needs) {
    return call('exec_code', { language, code }, ...needs);
}

const python = (code, ...needs) => cell('python', code, ...needs);
const r = (code, ...needs) => cell('r', code, ...needs);
const bash = (code, ...needs) => cell('bash', code, ...needs);

// The demo's own cells, from its source.
function demo() {
    const print = 'import json, run; print(json.dumps([run.CELLS, run.BREAK_OUT]))';
    const { stdout } = spawnSync('python3', ['-c', print], { cwd: join(tests, 'demo'), encoding: 'utf8' });
    const [cells, breakOut] = JSON.parse(stdout);
    const needs = [['52'], ['2284 weeks', '59 of them', 'mean'], ['1970', '2000'],
        ['AttributeError', 'yaer', 'groupby\\(air.index.yaer\\).mean'], ['ppm a year'], ['co2.png']];
    return [
        call('upload_file', { filename: 'co2.csv', content: readFileSync(join(tests, 'data/co2.csv'), 'utf8') }, CO2),
        ...cells.map(([, language, code], i) => cell(language,
            code.trim().replaceAll('PATH', language === 'bash' ? CO2 : `'${CO2}'`), ...needs[i])),
        bash(breakOut.replace('THEIRS', '/etc/shadow').trim(), 'Permission denied|No such file|cannot open'),
        call('session_info', {}, '/mnt/data|workdir', 'python', 'bash'),
        call('list_artifacts', {}, 'output/co2.png', CO2),
    ];
}

const SALES = `import pandas as pd, numpy as np
rng = np.random.default_rng(1)
df = pd.DataFrame({'Region': rng.choice(['North', 'South', 'East', 'West'], 300),
                   'Product': rng.choice(['apple', 'pear', 'plum'], 300),
                   'Qty': rng.integers(1, 20, 300), 'Price': rng.uniform(0.5, 9, 300).round(2)})
df['Total'] = (df.Qty * df.Price).round(2)`;

// What an analyst does in a day, with the mistakes and the large outputs of one.
const day = [
    python(SALES, 'df'),
    python('df.head()', 'Region', 'Total'),
    python('df', 'Region', '300 rows|299'),
    python("df.groupby('Region')['Total'].sum()", 'North'),
    python("df.groupby(['Region', 'Product']).agg({'Qty': 'sum', 'Total': ['mean', 'max']}).round(2)", 'apple', 'West'),
    python("df['Region'].value_counts()", 'North'),
    python("pd.Series([1, 2, 3], name='x')", 'x'),
    python("df['nope']", "KeyError: 'nope'", "df\\['nope'\\]"),
    python("open('bad.csv', 'w').write('a,b\\n1,2\\n1,2,3,4\\n')\npd.read_csv('bad.csv')",
        'ParserError', 'Expected 2 fields in line 3, saw 4'),
    python("import urllib.request\nurllib.request.urlopen('http://example.com/data.csv').read()", 'URLError', 'network'),
    python("df.Qty.plot()", 'cell-\\d+-figure-1.png'),
    python(`import matplotlib.pyplot as plt
fig, ax = plt.subplots()
ax.bar(['a', 'b'], [1, 2])
ax.set_title('Sales')`, 'cell-\\d+-figure-1.png'),
    python("plt.hist(df.Total)\nplt.title('Totals')\nplt.savefig('output/final.png')\nplt.show()", 'output/final.png'),
    python(`for i in range(3):
    plt.figure()
    plt.plot(range(i + 2))
    plt.show()
print('three')`, 'figure-1', 'figure-3', 'three'),
    python('for i in range(12):\n    plt.figure()\n    plt.plot(range(i + 2))', 'figure-12.png|12'),
    python("fig, ax = plt.subplots()\nax.plot(df['missing'])", "KeyError: 'missing'"),
    python("from PIL import Image\nImage.new('RGB', (300, 200), 'red')", 'figure-1'),
    python('list(range(5000))', '\\[0, 1, 2', 'length 5000'),
    python("{'k' + str(i): 'v' * 50 for i in range(300)}", 'k0', 'k299'),
    python('print(df.to_string())', 'Region', '/mnt/spool|299'),
    python('pd.DataFrame(np.arange(4000).reshape(100, 40))', '3999'),
    python("'v' * 30000", 'vvvv'),
    python('np.arange(10000).reshape(100, 100)', '9999'),
    python('for i in range(3000): print("line", i)', 'line 0', 'line 2999', '/mnt/spool'),
    python('from collections import Counter, defaultdict\nfrom pathlib import Path\nimport json, re, os, sys'),
    python('def clean(x):\n    return x.strip()\n\nclass Model:\n    pass\n\nthreshold = 0.5', 'threshold'),
    python("df.to_csv('output/clean.csv')\ndf.to_csv('draft.csv')", 'output/clean.csv', 'draft.csv'),
    python(`def inner(x):
    return 1 / x

def outer(x):
    return inner(x)

outer(0)`, 'ZeroDivisionError: division by zero', 'return inner\\(x\\)', 'return 1 / x'),
    python("import json\njson.loads('{bad}')", 'JSONDecodeError', 'line 1 column 2'),
    python("pd.merge(df, df, on='nope')", "KeyError: 'nope'", 'pd.merge'),
    python("df.Region.astype(float)", 'ValueError: could not convert string to float', 'astype'),
    python('import nosuchpackage', "No module named 'nosuchpackage'", 'install_packages'),
    python('x = int("a")', 'ValueError: invalid literal', 'int\\("a"\\)'),
    python(`from sklearn.linear_model import LinearRegression
model = LinearRegression().fit(df[['Qty']], df['Total'])
model.predict(df[['Qty', 'Price']])`, 'ValueError', 'feature names'),
    call('exec_sql', { query: 'select Region, sum(Total) as total from clean group by Region order by 1' }, 'East'),
    call('exec_sql', { query: 'select nope from clean' }, 'nope'),
    call('list_artifacts', {}, 'output/clean.csv', 'output/final.png'),
    call('list_artifacts', { pattern: 'output/*.csv' }, 'output/clean.csv'),
    call('session_info', {}, 'python', 'databases|files'),
    call('upload_file', { filename: 'tiny.csv', content: 'a,b\n1,2\n' }, 'input/tiny.csv'),
    call('list_sessions', {}, 'day'),
    bash("ls -l output | head -3\nawk -F, 'NR > 1 { s += $NF } END { print s }' output/clean.csv", 'total'),
    bash('cat nofile; grep -c North draft.csv', 'No such file', '\\d+'),
    cell('javascript', 'const a = [1, 2, 3].map((x) => ({ x, y: x * x }));\na', 'y: 9'),
    cell('javascript', 'function f(x) { return x.y.z; }\nf({})', "TypeError: Cannot read properties of undefined",
        'x.y.z'),
];

const statistics = [
    r('summary(mtcars$mpg)', 'Median'),
    r('head(mtcars, 3)', 'Mazda RX4'),
    r('fit <- lm(mpg ~ wt, mtcars)\nsummary(fit)', 'R-squared'),
    r('plot(mtcars$wt, mtcars$mpg, main = "Weight")', 'figure-1'),
    r('library(ggplot2)\nggplot(mtcars, aes(wt, mpg)) + geom_point()', 'figure-1'),
    r('hist(mtcars$mpg)\nboxplot(mpg ~ cyl, mtcars)', 'figure-1', 'figure-2'),
    r('f <- function(x) stop("no such thing")\nf(1)', 'no such thing'),
];

// As the galleries of plotting packages have them.
const galleries = [
    python(`import numpy as np
import matplotlib.pyplot as plt
t = np.arange(0.0, 2.0, 0.01)
fig, ax = plt.subplots()
ax.plot(t, 1 + np.sin(2 * np.pi * t))
ax.set(xlabel='time (s)', ylabel='voltage (mV)', title='About as simple as it gets')
ax.grid()
fig.savefig('test.png')
plt.show()`, 'test.png', 'figure-1'),
    python(`labels = ['G1', 'G2', 'G3']
men, women = [20, 35, 30], [25, 32, 34]
fig, ax = plt.subplots()
ax.bar(labels, men, 0.35, label='Men')
ax.bar(labels, women, 0.35, bottom=men, label='Women')
ax.set_ylabel('Scores')
ax.legend()`, 'figure-1'),
    python("plt.pie([15, 30, 45, 10], labels=['Frogs', 'Hogs', 'Dogs', 'Logs'], autopct='%1.1f%%')", 'figure-1'),
    python('plt.hist(np.random.default_rng(0).normal(size=1000), bins=50)', 'figure-1'),
    python('plt.boxplot([np.arange(10), np.arange(5, 20)])', 'figure-1'),
    python("plt.imshow(np.arange(100).reshape(10, 10), cmap='viridis')\nplt.colorbar()", 'figure-1'),
    python("plt.scatter(np.arange(50), np.arange(50) ** 2, c=np.arange(50))\nplt.xlabel('x')", 'figure-1'),
    python("fig, axes = plt.subplots(2, 2)\nfor a in axes.flat:\n    a.plot([1, 2])\naxes", 'figure-1'),
    python(`import pandas as pd
ts = pd.Series(np.random.default_rng(0).normal(size=100).cumsum(), pd.date_range('2020', periods=100))
ts.plot()`, 'figure-1'),
    python("frame = pd.DataFrame(np.arange(40).reshape(10, 4), columns=list('ABCD'))\nframe.plot(subplots=True)", 'figure-1'),
    python('frame.plot.bar(stacked=True)', 'figure-1'),
    python('frame.hist()', 'figure-1'),
    python("pd.plotting.scatter_matrix(frame, alpha=0.2)", 'figure-1'),
    python("frame.describe()", 'mean', '36'),
    python(`from mpl_toolkits.mplot3d import Axes3D
fig = plt.figure()
ax = fig.add_subplot(projection='3d')
X, Y = np.meshgrid(np.arange(-5, 5, 0.5), np.arange(-5, 5, 0.5))
ax.plot_surface(X, Y, np.sin(X) * np.cos(Y))`, 'figure-1'),
    python("plt.title('日本茶')\nplt.plot([1, 2])", 'figure-1'),
];

export const conversations = [
    { name: 'demo', steps: demo() },
    { name: 'day', steps: day },
    { name: 'statistics', steps: statistics, program: 'R' },
    { name: 'galleries', steps: galleries },
];

# SPDX-License-Identifier: MIT
"""Wheels of Debian's Python packages, made of what is installed here: real packages, without a network."""
import pathlib
import re
import subprocess
from importlib import metadata

from indexes import wheel

FOLDER = pathlib.Path("/usr/lib/python3/dist-packages")

# Of each package its modules, and a line that uses it and is true.
USES = {
    "numpy": ("numpy", "numpy.linalg.inv(numpy.eye(2)).sum() == 2"),
    "pandas": ("pandas", "pandas.DataFrame({'a': [1, 1, 2]}).groupby('a').size().loc[1] == 2"),
    "python-dateutil": ("dateutil", "__import__('dateutil.parser').parser.parse('2026-01-02').day == 2"),
    "pytz": ("pytz", "str(pytz.timezone('Europe/Berlin')) == 'Europe/Berlin'"),
    "six": ("six", "six.PY3"),
    "scipy": ("scipy", "abs(__import__('scipy.integrate').integrate.quad(lambda x: x, 0, 2)[0] - 2) < 1e-9"),
    "scikit-learn": ("sklearn", "__import__('sklearn.linear_model').linear_model.LinearRegression().fit([[0], [1]], [0, 2]).coef_[0] > 1.9"),
    "joblib": ("joblib", "joblib.Parallel(n_jobs=1)(joblib.delayed(abs)(n) for n in [-1]) == [1]"),
    "threadpoolctl": ("threadpoolctl", "threadpoolctl.threadpool_info() is not None"),
    "matplotlib": ("matplotlib mpl_toolkits pylab", "__import__('matplotlib.figure').figure.Figure().subplots().plot([1, 2])[0].get_ydata()[1] == 2"),
    "contourpy": ("contourpy", "len(contourpy.contour_generator(z=[[0, 1], [0, 1]]).lines(0.5)) == 1"),
    "cycler": ("cycler", "len(cycler.cycler(c='ab')) == 2"),
    "kiwisolver": ("kiwisolver", "kiwisolver.Variable('x').name() == 'x'"),
    "fonttools": ("fontTools", "__import__('fontTools.misc.roundTools').misc.roundTools.otRound(1.5) == 2"),
    "pyparsing": ("pyparsing", "pyparsing.Word('ab').parse_string('ab')[0] == 'ab'"),
    "packaging": ("packaging", "__import__('packaging.version').version.Version('1.10').minor == 10"),
    "Pillow": ("PIL", "__import__('PIL.Image').Image.new('L', (2, 3)).size == (2, 3)"),
    "sympy": ("sympy isympy", "str(sympy.diff(sympy.Symbol('x') ** 2)) == '2*x'"),
    "mpmath": ("mpmath", "mpmath.mpf(2) ** 10 == 1024"),
    "tqdm": ("tqdm", "list(tqdm.tqdm([1], disable=True)) == [1]"),
    "lxml": ("lxml", "__import__('lxml.etree').etree.fromstring('<a><b/></a>')[0].tag == 'b'"),
    "beautifulsoup4": ("bs4", "bs4.BeautifulSoup('<p>x</p>', 'html.parser').p.text == 'x'"),
    "soupsieve": ("soupsieve", "soupsieve.compile('p') is not None"),
    "html5lib": ("html5lib", "html5lib.parse('<p>x') is not None"),
    "webencodings": ("webencodings", "webencodings.lookup('latin1').name == 'windows-1252'"),
    "defusedxml": ("defusedxml", "__import__('defusedxml.ElementTree').ElementTree.fromstring('<a/>').tag == 'a'"),
    "xmltodict": ("xmltodict", "xmltodict.parse('<a>1</a>')['a'] == '1'"),
    "PyYAML": ("yaml _yaml", "yaml.safe_load('a: [1]') == {'a': [1]}"),
    "toml": ("toml", "toml.loads('a = 1') == {'a': 1}"),
    "jsonschema": ("jsonschema", "jsonschema.validate(1, {'type': 'integer'}) is None"),
    "pyrsistent": ("pyrsistent _pyrsistent_version pvectorc", "pyrsistent.v(1, 2)[1] == 2"),
    "attrs": ("attr attrs", "attr.make_class('C', ['x'])(1).x == 1"),
    "fastjsonschema": ("fastjsonschema", "fastjsonschema.compile({'type': 'integer'})(1) == 1"),
    "Jinja2": ("jinja2", "jinja2.Template('{{ a }}').render(a=1) == '1'"),
    "MarkupSafe": ("markupsafe", "markupsafe.escape('<') == '&lt;'"),
    "Pygments": ("pygments", "__import__('pygments.lexers').lexers.get_lexer_by_name('python').name == 'Python'"),
    "more-itertools": ("more_itertools", "list(more_itertools.chunked([1, 2, 3], 2)) == [[1, 2], [3]]"),
    "decorator": ("decorator", "decorator.decorator(lambda f, *a: f(*a))(abs)(-1) == 1"),
    "lz4": ("lz4", "__import__('lz4.frame').frame.decompress(__import__('lz4.frame').frame.compress(b'x')) == b'x'"),
    "Brotli": ("brotli _brotli", "brotli.decompress(brotli.compress(b'x')) == b'x'"),
    "psutil": ("psutil", "psutil.Process().pid > 0"),
    "cryptography": ("cryptography", "len(__import__('cryptography.fernet').fernet.Fernet.generate_key()) == 44"),
    "PyJWT": ("jwt", "jwt.decode(jwt.encode({'a': 1}, 'k', 'HS256'), 'k', ['HS256']) == {'a': 1}"),
}


def installed():
    """{NAME: distribution} of those that this machine has."""
    found = {one.metadata["Name"].lower(): one for one in metadata.distributions(path=[str(FOLDER)])}
    return {name: found[name.lower()] for name in USES if name.lower() in found}


def version_of(distribution):
    """Another one than Debian's, which satisfies what asks for Debian's."""
    return distribution.version.partition("+")[0] + "+own"


def files_of(modules):
    files = {}
    for module in modules.split():
        for path in [*FOLDER.glob(module + ".py"), *FOLDER.glob(module + ".*.so"), *FOLDER.glob(module + "/**/*")]:
            if path.is_file() and "__pycache__" not in path.parts:
                files[str(path.relative_to(FOLDER))] = path.read_bytes()
    return files


def needs_of(distribution, names):
    """Its requirements without extras and markers, of the packages that there are wheels of."""
    plain = {re.sub(r"[-_.]+", "-", name).lower() for name in names}
    texts = [text.replace("(", "").replace(")", "") for text in distribution.requires or [] if ";" not in text]
    return [text for text in texts if re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", text)[0]).lower() in plain]


def wheels():
    """(name, bytes) of the wheels; those with compiled modules are for this Python alone."""
    tag = subprocess.run(["/usr/bin/python3", "-c", "import sys, sysconfig; v = 'cp%d%d' % sys.version_info[:2]; "
                          "print(v, v, sysconfig.get_platform().replace('-', '_'), sep='-')"], capture_output=True, text=True, check=True).stdout.strip()
    there = installed()
    for name, distribution in there.items():
        files = files_of(USES[name][0])
        file, data = wheel(name, version_of(distribution), needs_of(distribution, there), files)
        yield (file.replace("py3-none-any", tag) if any(path.endswith(".so") for path in files) else file), data

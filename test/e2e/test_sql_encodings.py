# SPDX-License-Identifier: MIT
"""exec_sql on files that are not UTF-8: which encoding their bytes are taken for."""
import csv
import io

import pytest
from test_sql import rows, sql, write
from test_sql_files import notes

TEXTS = {
    "kana of full width": ("\u540d\u524d,\u90fd\u5e02\n\u30e4\u30de\u30c0 \u30bf\u30ed\u30a6,\u6771\u4eac\n\u9234\u6728\u3055\u304f\u3089,\u5927\u962a\n",
        ["cp932", "euc_jp"]),
    "kana of half width": ("\u540d\u524d,\u91d1\u984d\n\uff94\uff8f\uff80\uff9e \uff80\uff9b\uff73,1000\n",
        ["cp932", "euc_jp"]),
    "nothing but kana of half width": ("name,v\n\uff94\uff8f\uff80\uff9e \uff80\uff9b\uff73,1000\n\uff7b\uff84\uff73 \uff8a\uff85\uff7a,5\n",
        ["cp932"]),
    "one value of half width": ("\u5546\u54c1,\u6570,\u5099\u8003\n\u308a\u3093\u3054,3,\u9752\u68ee\u7523\n\u307f\u304b\u3093,4,\u611b\u5a9b\u7523\n\uff8a\uff9e\uff85\uff85,5,\u8f38\u5165\n",
        ["cp932", "euc_jp"]),
    "simplified": ("\u59d3\u540d,\u57ce\u5e02\n\u5f20\u4f1f,\u5317\u4eac\n\u738b\u82b3,\u4e0a\u6d77\n",
        ["gb18030"]),
    "traditional": ("name,city\n\u81fa\u5317,\u4e2d\u83ef\u6c11\u570b\n\u9ad8\u96c4,\u4e2d\u83ef\u6c11\u570b\n",
        ["big5"]),
    "hangul": ("\uc774\ub984,\ub3c4\uc2dc\n\uae40\ucca0\uc218,\uc11c\uc6b8\n\ubc15\uc601\ud76c,\ubd80\uc0b0\n",
        ["euc_kr"]),
    "Russian": ("\u0438\u043c\u044f,\u0433\u043e\u0440\u043e\u0434\n\u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432,\u041c\u043e\u0441\u043a\u0432\u0430\n\u0410\u043d\u043d\u0430,\u041a\u0438\u0435\u0432\n",
        ["cp1251", "koi8_r", "iso8859_5"]),
    "Ukrainian": ("\u0456\u043c'\u044f,\u043c\u0456\u0441\u0442\u043e\n\u041e\u043b\u0435\u043a\u0441\u0456\u0439,\u041a\u0438\u0457\u0432\n\u0407\u0436\u0430\u043a \u0490\u0443\u0434\u0437\u044c,\u041b\u044c\u0432\u0456\u0432\n",
        ["cp1251", "koi8_u"]),
    "Polish": ("name,city\n\u0141\xf3d\u017a,Gda\u0144sk\nWroc\u0142aw,Krak\xf3w\n",
        ["cp1250", "iso8859_2"]),
    "Czech": ("jm\xe9no,m\u011bsto\nJi\u0159\xed Dvo\u0159\xe1k,Plze\u0148\n\u017dofie \u010cern\xe1,\xdast\xed\n",
        ["cp1250", "iso8859_2"]),
    "German": ("name,city\nM\xfcller,Z\xfcrich\nGr\xf6\xdfer,K\xf6ln\n\xc4rger,\xd6l\n",
        ["cp1252"]),
    "French": ("nom,ville\nH\xe9l\xe8ne Lef\xe8vre,Orl\xe9ans\n\xc9lodie,l\u2019Ha\xff\n",
        ["cp1252"]),
    "signs": ("name,note\nBob,it\u2019s \u2013 \u201cfine\u201d\nAnn,don\u2019t 20\xb0C \xb15\n",
        ["cp1252"]),
    "degrees": ("a,b\n20\xb0C,\xb15\n21\xb0,\xa37\n",
        ["cp1252"]),
    "Greek": ("\u03cc\u03bd\u03bf\u03bc\u03b1,\u03c0\u03cc\u03bb\u03b7\n\u0393\u03b9\u03ce\u03c1\u03b3\u03bf\u03c2,\u0391\u03b8\u03ae\u03bd\u03b1\n\u039c\u03b1\u03c1\u03af\u03b1,\u0398\u03b5\u03c3\u03c3\u03b1\u03bb\u03bf\u03bd\u03af\u03ba\u03b7\n",
        ["cp1253"]),
    "Hebrew": ("\u05e9\u05dd,\u05e2\u05d9\u05e8\n\u05d3\u05d5\u05d3,\u05d9\u05e8\u05d5\u05e9\u05dc\u05d9\u05dd\n\u05e9\u05e8\u05d4,\u05ea\u05dc \u05d0\u05d1\u05d9\u05d1\n",
        ["cp1255"]),
    "Arabic": ("\u0627\u0644\u0627\u0633\u0645,\u0627\u0644\u0645\u062f\u064a\u0646\u0629\n\u0645\u062d\u0645\u062f,\u0627\u0644\u0642\u0627\u0647\u0631\u0629\n\u0641\u0627\u0637\u0645\u0629,\u0628\u063a\u062f\u0627\u062f\n",
        ["cp1256"]),
    "Thai": ("\u0e0a\u0e37\u0e48\u0e2d,\u0e40\u0e21\u0e37\u0e2d\u0e07\n\u0e2a\u0e21\u0e0a\u0e32\u0e22,\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e\n\u0e2a\u0e21\u0e2b\u0e0d\u0e34\u0e07,\u0e40\u0e0a\u0e35\u0e22\u0e07\u0e43\u0e2b\u0e21\u0e48\n",
        ["cp874"]),
    "Turkish": ("ad,\u015fehir\n\u015e\xfckr\xfc,\u0130stanbul\nAy\u015fe,Eski\u015fehir\n",
        ["cp1254"]),
    "Hungarian": ("n\xe9v,v\xe1ros\nErzs\xe9bet,Gy\u0151r\nK\u0151szeg,T\u0171zolt\xf3\n",
        ["cp1250"]),
}
# Letters that are others in Windows-1252, and all of them where letters may be: a few say nothing.
LIKE_WESTERN = ["Turkish", "Hungarian"]


@pytest.mark.parametrize("times", [1, 14, 400])
@pytest.mark.parametrize("text, encoding", [(text, encoding) for text, (_, encodings) in TEXTS.items() for encoding in encodings])
def test_few_rows_tell_the_encoding_as_many_do(server, text, encoding, times):  # W2
    """Signs of degrees, quotes and letters with accents make pairs of bytes, too, and kana are letters to Greeks."""
    header, _, body = TEXTS[text][0].partition("\n")
    data = header + "\n" + body * times
    write(server, {"input/t.csv": data.encode(encoding)})
    answer = sql(server, "SELECT * FROM t LIMIT 30")
    lines = list(csv.reader(io.StringIO(data)))
    if times == 1 and text in LIKE_WESTERN:
        lines = list(csv.reader(io.StringIO(data.encode(encoding).decode("cp1252"))))
    assert [column["name"] for column in answer.object["columns"]] == lines[0]
    assert [list(map(str, row)) for row in answer.object["rows"]] == lines[1:31]
    assert [note for note in notes(answer) if "U+FFFD" in note] == []
    assert "; it is read as " in notes(answer)[0] and "iconv -f RIGHT -t UTF-8 'input/t.csv' > input/utf8.csv" in notes(answer)[0]


@pytest.mark.parametrize("mark, encoding", [("\ufeff", "utf-32-le"), ("\ufeff", "utf-32-be"), ("\ufeff", "utf-16-be")])
def test_a_mark_in_front_tells_the_encoding(server, mark, encoding):  # W2
    write(server, {"input/t.csv": (mark + "n,s\n1,\u0141\u00f3d\u017a\n2,\u7530\u4e2d\n").encode(encoding)})
    assert rows(server, "SELECT n, s FROM t") == [[1, "\u0141\u00f3d\u017a"], [2, "\u7530\u4e2d"]]


def test_a_broken_byte_leaves_a_large_file_in_its_encoding(server):  # W2
    text = "\u540d\u524d,\u90fd\u5e02\n" + "\u7530\u4e2d,\u6771\u4eac\n" * 300
    write(server, {"input/t.csv": text.encode("cp932") + b"\xff,x\n" + text.encode("cp932")})
    answer = sql(server, "SELECT count(*) FROM t WHERE \u540d\u524d = '\u7530\u4e2d'")
    assert answer.object["rows"] == [[600]] and "read as CP932" in notes(answer)[0]
    assert "bytes of input/t.csv that are not CP932: 1, read as U+FFFD" in notes(answer)


@pytest.mark.parametrize("encoding", ["latin-1", "cp932"])
def test_the_line_for_pandas_reads_the_rows_of_a_file_that_is_not_utf8(server, encoding):  # W2
    name = "M\u00fcller" if encoding == "latin-1" else "\u7530\u4e2d"
    write(server, {"input/t.csv": ("name\n" + f"{name}\nMeier\n" * 40).encode(encoding)})
    (line,) = [line for line in sql(server, "SELECT name FROM t").texts[-1].splitlines() if "read_csv" in line]
    assert server.cell(line + f"\nlen(df), int((df.name == {name!r}).sum())").text == "(80, 40)\n"

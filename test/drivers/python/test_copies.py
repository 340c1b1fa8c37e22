# SPDX-License-Identifier: MIT
"""What a copy for a session has to itself; how it is made is tested end to end."""

# From the driver's own module, which no name leads to.
RESEED = "import sys\nsys.displayhook.__globals__['reseed']()\n"


def test_generators_that_go_by_the_number_of_the_process_begin_anew(session):
    code = (
        "import tempfile, _ssl\nnext(tempfile._get_candidate_names())\nadded = []\n"
        "_ssl.RAND_add = lambda *given: added.append(given)\n" + RESEED
    )
    assert session.run(code).status == "ok"
    assert session.run("tempfile._name_sequence is None").value == "True"
    assert session.run("[(len(data), entropy) for data, entropy in added]").value == "[(32, 32)]"


def test_generators_that_a_module_keeps_begin_anew(session):
    draw = "import random\nrandom.seed(1)\n%srandom.random()"
    assert session.run(draw % RESEED).value != session.run(draw % "").value


def test_what_is_not_imported_stays_so(session):
    assert session.run(RESEED + "{'tempfile', '_ssl', 'random'} & set(sys.modules)").value == "set()"

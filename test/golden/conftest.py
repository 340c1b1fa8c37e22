# SPDX-License-Identifier: MIT


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="write the expected side of every case")

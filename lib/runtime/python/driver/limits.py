# SPDX-License-Identifier: MIT
"""How much the driver shows, keeps and sends.

The server accepts no frame part larger than FRAME_UP_PART_MAX (runtime/frame.h). The driver
therefore refuses or cuts large values itself.
"""

TEXT_LIMIT = 1_000_000  # characters of a text on its way to the server, which cuts what is shown
CONTAINER_LIMIT = 1000  # items of a container that are shown
ITEMS_LIMIT = 10_000  # the same of all containers in a value
LONG_STRING = 60  # characters that pprint would break into lines
EVALUE_LIMIT = 2000
FRAMES_KEPT = 20  # at each end of a traceback
SUGGESTED = 20  # errors of one traceback that say what was meant
NAMES_KEPT = 20
IMAGE_SIDE = 1280  # pixels
IMAGE_BYTES = 300_000  # a PNG above this is also tried as JPEG
IMAGES_PER_CELL = 20
# The server takes no larger frame (FRAME_UP_PART_MAX of runtime/frame.h): what is too large is refused here.
PICTURE_MAX = 8 << 20  # bytes of the pictures of a value
NAMED_MAX = 16_000  # characters of a form that answers only name: longer ones go without what is in them
FORMS_MAX = 40  # such forms of a value
LIST_MAX = 50_000  # characters of names and packages
WRAPPERS = 20  # that a function is looked for below
BROUGHT_BYTES = 1 << 20  # of a value that a child of multiprocessing gets
LEAF_CELLS = 1000  # sources kept of cells that define nothing
FAILURES_TOLD = 5
PIECES = 1000  # of text that gather in a stream until a line is whole
PIECE_BYTES = 1000  # a longer one does not wait
FLOOD_BYTES = 32 << 10  # printed by a cell line by line; what follows goes in blocks
FLOOD_BLOCK = 128 << 10
FLOOD_FREE = 1 << 20  # in a tick: who prints more waits until it is sent
WHOLE_MAX = 2 * FLOOD_BLOCK  # bytes of a frame that a signal's handler cannot tear
FLOOD_TICK = 0.02  # seconds that a block waits at most
FLOOD_ROOM = 4 << 20  # bytes: when less is freed, it stays for the next text

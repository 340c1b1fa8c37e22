# SPDX-License-Identifier: MIT
"""How much the driver shows, keeps and sends.

The server accepts no frame part larger than FRAME_UP_PART_MAX (runtime/frame.h). The driver
therefore refuses or cuts large values itself.
"""

TEXT_LIMIT = 1_000_000  # characters of a text on its way to the server, which cuts what is shown
CONTAINER_LIMIT = 1000  # items of a container that are shown
ITEMS_LIMIT = 10_000  # items that are shown of all containers in a value
LONG_STRING = 60  # characters: pprint would break a longer one into lines
EVALUE_LIMIT = 2000  # characters of an exception's text
FRAMES_KEPT = 20  # at each end of a traceback
SUGGESTED = 20  # errors of one traceback that get a "Did you mean"
NAMES_KEPT = 20  # changed names that an answer lists
IMAGE_SIDE = 1280  # pixels
IMAGE_BYTES = 300_000  # a PNG above this becomes a JPEG if that is smaller
PHOTO_BYTES = 100_000  # a smaller PNG is never tried as JPEG
PHOTO_FACTOR = 3  # a PNG so many times the size of its JPEG shows a photograph: the JPEG is shown
SOUND_BYTES = 400_000  # of a sound that is sent, which must fit into one answer
IMAGES_PER_CELL = 20
PICTURE_MAX = 8 << 20  # bytes of the pictures of a value
NAMED_MAX = 16_000  # characters of a form that answers only name; a longer one is sent empty
FORMS_MAX = 40  # such forms of a value
LIST_MAX = 50_000  # characters of names and packages
WRAPPERS = 20  # `__wrapped__` levels that are followed to a function
BROUGHT_BYTES = 1 << 20  # pickled value that a child of multiprocessing gets
LEAF_CELLS = 1000  # sources kept of cells that define nothing
FAILURES_REPORTED = 5  # exceptions between two frames that are printed
PIECES = 1000  # pieces of text that gather in a stream until a line is whole
PIECE_BYTES = 1000  # a longer piece does not wait
BULK_BYTES = 32 << 10  # bytes that a cell prints line by line; the rest goes in blocks
BULK_BLOCK = 128 << 10  # bytes
BULK_FREE = 1 << 20  # bytes a tick: print waits until more than this is sent
WHOLE_MAX = 2 * BULK_BLOCK  # bytes of a frame that a signal handler cannot tear
BULK_TICK = 0.02  # seconds that a block waits at most
BULK_ROOM = 4 << 20  # bytes that the allocator keeps for the next text
SAVE_SECONDS = 10  # that saving the variables may take; then the copy that does it ends
SAVE_NAME_SECONDS = 2  # that one variable may take of it: the others are saved then
SAVE_MEASURE_SECONDS = 6  # of SAVE_SECONDS, until what is not measured yet is left out: the rest can be written then
SAVE_WRITE_SECONDS = 9  # of SAVE_SECONDS, until what is not written yet is left out
SAVE_BLOCK = 128 << 10  # bytes of a frame with saved values
SAVE_ROOM = 1 << 20  # bytes of the maximum that the list of names and definitions may take
SAVE_DEFINITIONS = 768 << 10  # bytes of that room that definitions may take
SAVE_SUBMODULES = 2000  # names of submodules that are imported again
SAVE_WHY_CHARS = 100  # of a reason why a variable is not saved
SECRET_MIN = 4  # bytes: a shorter secret would be found everywhere
FORK_SECONDS = 1  # until the copy is made: then none is made in this session any more
MODULE_SECONDS = 0.0005  # that the import of one module takes, for a forecast
TABLE_ROWS = 100  # of a DataFrame in the report
TABLE_COLUMNS = 20  # pandas takes a quarter of a millisecond for a column of times
TABLE_LABELS = 20  # levels of an index; a DataFrame with more has no table
TABLE_BYTES = 256 << 10  # of the table as JSON; the server takes no larger one
TABLE_CHARS = 32 << 10  # of all texts, which share them
TABLE_CELL_MIN = 100  # characters that each text may have, whatever its share is
TABLE_ITEMS = 20  # items of a list that is a value; an array with more is shown as its class and length
TABLE_LEVELS = 3  # of lists in lists

/* SPDX-License-Identifier: MIT */
/*
 * mime.c - a sorted table of extensions, and readers for the headers of PNG and JPEG. Session code
 * writes the images, so every length in them is checked against the data; nothing else of an image
 * is decoded in the server.
 */
#include "text/mime.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"

struct mime_row {
	const char *extension;
	const char *type;
};

/* Sorted by extension, as strcasecmp() does. */
static const struct mime_row rows[] = {
	{ ".7z", "application/x-7z-compressed" },
	{ ".arrow", "application/vnd.apache.arrow.file" },
	{ ".avi", "video/x-msvideo" },
	{ ".avif", "image/avif" },
	{ ".bash", "text/x-shellscript" },
	{ ".bat", "text/plain" },
	{ ".bmp", "image/bmp" },
	{ ".bz2", "application/x-bzip2" },
	{ ".c", "text/x-c" },
	{ ".cfg", "text/plain" },
	{ ".cpp", "text/x-c++" },
	{ ".css", "text/css" },
	{ ".csv", "text/csv" },
	{ ".db", "application/vnd.sqlite3" },
	{ ".doc", "application/msword" },
	{ ".docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document" },
	{ ".epub", "application/epub+zip" },
	{ ".feather", "application/vnd.apache.arrow.file" },
	{ ".flac", "audio/flac" },
	{ ".geojson", "application/geo+json" },
	{ ".gif", "image/gif" },
	{ ".go", "text/x-go" },
	{ ".gz", "application/gzip" },
	{ ".h", "text/x-c" },
	{ ".h5", "application/x-hdf5" },
	{ ".hdf5", "application/x-hdf5" },
	{ ".htm", "text/html" },
	{ ".html", "text/html" },
	{ ".ico", "image/vnd.microsoft.icon" },
	{ ".ics", "text/calendar" },
	{ ".ini", "text/plain" },
	{ ".ipynb", "application/x-ipynb+json" },
	{ ".jar", "application/java-archive" },
	{ ".java", "text/x-java" },
	{ ".jpeg", "image/jpeg" },
	{ ".jpg", "image/jpeg" },
	{ ".js", "text/javascript" },
	{ ".json", "application/json" },
	{ ".jsonl", "application/jsonl" },
	{ ".log", "text/plain" },
	{ ".md", "text/markdown" },
	{ ".mjs", "text/javascript" },
	{ ".mkv", "video/x-matroska" },
	{ ".mov", "video/quicktime" },
	{ ".mp3", "audio/mpeg" },
	{ ".mp4", "video/mp4" },
	{ ".ndjson", "application/jsonl" },
	{ ".npy", "application/x-npy" },
	{ ".npz", "application/zip" },
	{ ".odp", "application/vnd.oasis.opendocument.presentation" },
	{ ".ods", "application/vnd.oasis.opendocument.spreadsheet" },
	{ ".odt", "application/vnd.oasis.opendocument.text" },
	{ ".ogg", "audio/ogg" },
	{ ".parquet", "application/vnd.apache.parquet" },
	{ ".pdf", "application/pdf" },
	{ ".pickle", "application/octet-stream" },
	{ ".pkl", "application/octet-stream" },
	{ ".png", "image/png" },
	{ ".ppt", "application/vnd.ms-powerpoint" },
	{ ".pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation" },
	{ ".ps", "application/postscript" },
	{ ".py", "text/x-python" },
	{ ".r", "text/x-r" },
	{ ".rs", "text/x-rust" },
	{ ".rst", "text/x-rst" },
	{ ".rtf", "application/rtf" },
	{ ".sh", "text/x-shellscript" },
	{ ".sql", "application/sql" },
	{ ".sqlite", "application/vnd.sqlite3" },
	{ ".sqlite3", "application/vnd.sqlite3" },
	{ ".srt", "application/x-subrip" },
	{ ".svg", "image/svg+xml" },
	{ ".tar", "application/x-tar" },
	{ ".tex", "text/x-tex" },
	{ ".tgz", "application/gzip" },
	{ ".tif", "image/tiff" },
	{ ".tiff", "image/tiff" },
	{ ".toml", "application/toml" },
	{ ".ts", "text/x-typescript" },
	{ ".tsv", "text/tab-separated-values" },
	{ ".ttf", "font/ttf" },
	{ ".txt", "text/plain" },
	{ ".wav", "audio/wav" },
	{ ".webm", "video/webm" },
	{ ".webp", "image/webp" },
	{ ".woff2", "font/woff2" },
	{ ".xls", "application/vnd.ms-excel" },
	{ ".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
	{ ".xml", "application/xml" },
	{ ".xz", "application/x-xz" },
	{ ".yaml", "application/yaml" },
	{ ".yml", "application/yaml" },
	{ ".zip", "application/zip" },
	{ ".zst", "application/zstd" },
};

static const char *const texts[] = {
	"application/geo+json", "application/jsonl", "application/json",
	"application/sql",      "application/toml",  "application/x-ipynb+json",
	"application/x-subrip", "application/xml",   "application/yaml",
	"image/svg+xml",
};

const char *mime_extension(const char *filename)
{
	const char *name = path_base(filename);
	const char *dot = strrchr(name, '.');

	return dot != NULL && dot > name && dot[1] != '\0' ? dot : name + strlen(name);
}

static int compare_row(const void *extension, const void *row)
{
	return strcasecmp(extension, ((const struct mime_row *)row)->extension);
}

const char *mime_of_name(const char *filename)
{
	const struct mime_row *row = bsearch(mime_extension(filename), rows, ARRAY_SIZE(rows),
					     sizeof(rows[0]), compare_row);

	return row != NULL ? row->type : "application/octet-stream";
}

bool mime_is_text(const char *mime)
{
	if (strncmp(mime, "text/", 5) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (str_eq(mime, texts[i]))
			return true;
	}
	return false;
}

static uint32_t big_endian(const unsigned char *p, size_t len)
{
	uint32_t value = 0;

	for (size_t i = 0; i < len; i++)
		value = value << 8 | p[i];
	return value;
}

/* Reads the size: Portable Network Graphics, third edition, 5.2 and 11.2.1. */
static bool png_size(const unsigned char *p, size_t len, uint32_t *ret_width, uint32_t *ret_height)
{
	static const unsigned char start[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
					       0,    0,   0,   13,  'I',  'H',  'D',  'R' };

	if (len < 33 || memcmp(p, start, sizeof(start)) != 0)
		return false;
	*ret_width = big_endian(p + 16, 4);
	*ret_height = big_endian(p + 20, 4);
	return *ret_width <= INT32_MAX && *ret_height <= INT32_MAX;
}

/* Recognises SOF0-SOF15 but DHT, JPG and DAC: ITU-T T.81, table B.1. */
static bool is_frame_marker(unsigned char marker)
{
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 &&
	       marker != 0xcc;
}

static bool jpeg_size(const unsigned char *p, size_t len, uint32_t *ret_width, uint32_t *ret_height)
{
	size_t at = 2;

	if (len < 4 || p[0] != 0xff || p[1] != 0xd8)
		return false;
	while (len - at >= 4 && p[at] == 0xff) {
		unsigned char marker = p[at + 1];
		uint32_t segment = big_endian(p + at + 2, 2);

		if (marker == 0xff) { /* a fill byte */
			at++;
			continue;
		}
		/*
		 * A scan, an end or a marker without a length before any frame: this is no complete
		 * header.
		 */
		if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xda) || segment < 2)
			return false;
		if (segment > len - at - 2)
			return false;
		if (is_frame_marker(marker)) {
			if (segment < 8)
				return false;
			*ret_height = big_endian(p + at + 5, 2);
			*ret_width = big_endian(p + at + 7, 2);
			return true;
		}
		at += 2 + segment;
	}
	return false;
}

bool mime_image(const void *data, size_t len, const char **ret_mime, uint32_t *ret_width,
		uint32_t *ret_height)
{
	uint32_t width = 0;
	uint32_t height = 0;
	const char *mime = "image/png";

	if (!png_size(data, len, &width, &height)) {
		mime = "image/jpeg";
		if (!jpeg_size(data, len, &width, &height))
			return false;
	}
	if (width == 0 || height == 0)
		return false;
	*ret_mime = mime;
	*ret_width = width;
	*ret_height = height;
	return true;
}

const char *mime_sound(const void *data, size_t len)
{
	static const struct {
		const char *start;
		const char *mime;
	} kinds[] = { { "ID3", "audio/mpeg" },      { "\xff\xfb", "audio/mpeg" },
		      { "\xff\xf3", "audio/mpeg" }, { "\xff\xf2", "audio/mpeg" },
		      { "OggS", "audio/ogg" },      { "fLaC", "audio/flac" } };

	if (len >= 12 && memcmp(data, "RIFF", 4) == 0 &&
	    memcmp((const char *)data + 8, "WAVE", 4) == 0)
		return "audio/wav";
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t start = strlen(kinds[i].start);

		if (len > start && memcmp(data, kinds[i].start, start) == 0)
			return kinds[i].mime;
	}
	return NULL;
}

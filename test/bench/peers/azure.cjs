// SPDX-License-Identifier: MIT
// azure.cjs CONNECTION FILE: uploads a file with the service's own client, in blocks of 8 MiB, six at a time.
const { BlobServiceClient } = require('@azure/storage-blob')

const [connection, file] = process.argv.slice(2)
const client = BlobServiceClient.fromConnectionString(connection).getContainerClient('box')
client.getBlockBlobClient('s/data.bin').uploadFile(file, { blockSize: 8 << 20, concurrency: 6, maxSingleShotSize: 8 << 20 })

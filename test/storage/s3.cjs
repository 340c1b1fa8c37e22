// SPDX-License-Identifier: MIT
// s3.cjs FOLDER BUCKET: an S3 server on a free port of loopback that checks signatures; key and secret
// are S3RVER. Prints its port.
const S3rver = require('@20minutes/s3rver')

const [directory, bucket] = process.argv.slice(2)
const server = new S3rver({
  directory,
  address: '127.0.0.1',
  port: 0,
  silent: true,
  allowMismatchedSignatures: false,
  configureBuckets: [{ name: bucket }],
})
server.run().then(({ port }) => console.log(`port ${port}`))

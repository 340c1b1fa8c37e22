// SPDX-License-Identifier: MIT
// s3.cjs FOLDER BUCKET: an S3 server on a free port of loopback that checks signatures; key and secret
// are S3RVER. Prints its port. Uploads in parts can be aborted, and end once, as those of S3.
const fs = require('node:fs')
const path = require('node:path')

const S3rver = require('@20minutes/s3rver')
const S3Error = require('@20minutes/s3rver/lib/models/error')

const [directory, bucket] = process.argv.slice(2)
const server = new S3rver({
  directory,
  address: '127.0.0.1',
  port: 0,
  silent: true,
  allowMismatchedSignatures: false,
  configureBuckets: [{ name: bucket }],
})

const { store } = server
const complete = store.putObjectMultipart.bind(store)

function partsOf(id) {
  const folder = path.join(store.getResourcePath(bucket, undefined, 'uploads'), path.basename(id))
  if (fs.existsSync(folder)) return folder
  throw Object.assign(new S3Error('NoSuchUpload', 'The specified upload does not exist.'), { status: 404 })
}

store.putObjectMultipart = async (name, id, parts) => {
  partsOf(id)
  return complete(name, id, parts)
}
server.middleware.unshift(async (ctx, next) => {
  try {
    await next()
  } catch (err) {
    if (err.code !== 'MethodNotAllowed' || ctx.method !== 'DELETE' || !ctx.query.uploadId) throw err
    fs.rmSync(partsOf(ctx.query.uploadId), { recursive: true }) // its signature was looked at
    ctx.status = 204
  }
})
server.run().then(({ port }) => console.log(`port ${port}`))

// Columns of numbers: base64 of raw deflate, little endian.

async function inflate(text) {
  if (!text) return new ArrayBuffer(0);
  const raw = atob(text), deflated = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) deflated[i] = raw.charCodeAt(i);
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

/** Undoes columns of an object: unpack(links, {use: Float32Array}) has them in place of the texts. */
async function unpack(object, types) {
  const names = Object.keys(types);
  const buffers = await Promise.all(names.map(name => inflate(object[name])));
  const columns = {...object};
  names.forEach((name, i) => { columns[name] = new types[name](buffers[i]); });
  return columns;
}

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
  const columns = {...object};
  await Promise.all(Object.entries(types).map(async ([name, Numbers]) => { columns[name] = new Numbers(await inflate(object[name])); }));
  return columns;
}

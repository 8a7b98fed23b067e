/**
 * A document that names the node's public address: written once, and anew only after the node has moved. `write` takes
 * that address.
 */
export function writtenDocument(baseUrl: () => string, write: (baseUrl: string) => string): () => string {
  let address = baseUrl();
  let text = write(address);
  return () => {
    if (baseUrl() === address) return text;
    address = baseUrl();
    text = write(address);
    return text;
  };
}

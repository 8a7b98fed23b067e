/** One change of an atomic write. Keys are text; a table gives each its prefix. */
export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: string };

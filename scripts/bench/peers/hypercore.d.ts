/** The part of Hypercore 11 that the bench uses; the package brings no types. */
declare module 'hypercore' {
  class Hypercore {
    /** A new log in a folder. */
    constructor(directory: string);
    /** Resolves once the blocks are in the storage's log, with the length after them. */
    append(blocks: Uint8Array | readonly Uint8Array[]): Promise<{ readonly length: number }>;
  }
  export = Hypercore;
}

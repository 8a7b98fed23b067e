/** The part of autocannon 9 that the bench uses; the package brings no types. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  interface Options {
    readonly url: string;
    readonly connections: number;
    /** In seconds. */
    readonly duration: number;
    readonly requests: readonly {
      readonly method: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }[];
  }

  interface Events {
    /** Connection, status, bytes of the answer, milliseconds. */
    response: [client: object, status: number, bytes: number, milliseconds: number];
    reqError: [error: Error];
    done: [];
  }

  function autocannon(options: Options): EventEmitter<Events>;
  export = autocannon;
}

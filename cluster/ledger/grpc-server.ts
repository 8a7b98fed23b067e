import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { MethodDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';

export const LOOPBACK = '127.0.0.1';

/** The size of a full transaction and some room; HAPI's own limit is far below. */
const MAX_REQUEST_BYTES = 262_144;
const MIN_PING_INTERVAL_MS = 5_000;

/** A gRPC server on loopback whose methods take and give the serialised messages themselves. */
export class GrpcServer {
  readonly #server = new Server({
    'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
    'grpc.keepalive_permit_without_calls': 1,
    'grpc.http2.min_ping_interval_without_data_ms': MIN_PING_INTERVAL_MS,
  });

  /** @param service full name of the protobuf service */
  add(service: string, methods: UntypedServiceImplementation, streams = false): void {
    const definitions = Object.keys(methods).map((name) => [name, rawMethod(`/${service}/${name}`, streams)]);
    this.#server.addService(Object.fromEntries(definitions), methods);
  }

  /** Returns the port, which the system chooses if it is 0. */
  async listen(port: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#server.bindAsync(`${LOOPBACK}:${port}`, ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
    return promise;
  }

  /** Ends all calls at once. */
  [Symbol.dispose](): void {
    this.#server.forceShutdown();
  }
}

function rawMethod(path: string, responseStream: boolean): MethodDefinition<Buffer, Buffer> {
  return {
    path,
    requestStream: false,
    responseStream,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  };
}

function asItIs(bytes: Buffer): Buffer {
  return bytes;
}

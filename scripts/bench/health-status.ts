import { request } from 'node:http';

/** Status of a node's `/v1/health`; null where nothing listens. */
export function healthStatus(baseUrl: string): Promise<number | null> {
  return new Promise((resolve) => {
    const outgoing = request(`${baseUrl}/v1/health`, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? null));
    });
    outgoing.once('error', () => resolve(null)).end();
  });
}

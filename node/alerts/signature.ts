import { createHmac } from 'node:crypto';
import type { DeliveryId, WebhookId } from '../../protocol/api/webhooks.ts';

const SECRET_PREFIX = 'whsec_';

/**
 * The secrets of webhooks: derived from the node's payload key, so that they stand nowhere. Nobody derives one without
 * the node's key file.
 */
export class WebhookSecrets {
  readonly #key: Uint8Array;

  /** `payloadKey`: 32 bytes from the node's key file. */
  constructor(payloadKey: Uint8Array) {
    this.#key = createHmac('sha256', payloadKey).update('meridian/webhook/1\0').digest();
  }

  /** 32 bytes, other ones for each generation. */
  of(webhook: WebhookId, generation: number): Uint8Array {
    return createHmac('sha256', this.#key).update(`${webhook}\0${generation}`).digest();
  }

  /** A secret as its receiver configures it (Standard Webhooks: `whsec_` and base64). */
  textOf(webhook: WebhookId, generation: number): string {
    return SECRET_PREFIX + Buffer.from(this.of(webhook, generation)).toString('base64');
  }
}

/**
 * The headers of an attempt (Standard Webhooks): a signature by each secret. `at`: epoch milliseconds.
 */
export function signedHeaders(
  id: DeliveryId,
  body: string,
  at: number,
  secrets: readonly Uint8Array[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1_000));
  const signatures = secrets.map((secret) => {
    return `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

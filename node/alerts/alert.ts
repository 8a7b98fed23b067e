import type { AlertEvent } from '../../protocol/api/webhooks.ts';
import type { JsonObject } from '../../protocol/json/value.ts';

/** Something to tell an account. */
export interface Alert {
  readonly account: string;
  readonly event: AlertEvent;
  /** Of what: it is told of once. */
  readonly subject: string;
  /** Ids and states, no text and no person. */
  readonly data: JsonObject;
}

import type { EntityId } from '../../../protocol/ids.ts';
import { MirrorClient } from '../ledger/mirror-client.ts';
import type { MirrorMessage } from '../ledger/mirror-shapes.ts';

/** Somebody who tells the messages of a topic, and counts as one source whatever its addresses. */
export interface MessageSource {
  /** Host name. */
  readonly name: string;
  /** Up to a page of messages after a sequence number, in order. Throws where it has no answer. */
  messages(after: number, signal: AbortSignal): Promise<MirrorMessage[]>;
}

/**
 * One source a host, whatever the ports: addresses at one host are one party. Of several the next is asked after a
 * failure.
 */
export function mirrorSources(mirrors: readonly string[], topicId: EntityId): MessageSource[] {
  const byHost = new Map<string, string[]>();
  for (const url of mirrors) {
    const host = new URL(url).hostname.replace(/\.$/, '');
    byHost.set(host, [...(byHost.get(host) ?? []), url]);
  }
  return [...byHost].map(([host, urls]) => mirrorSource(host, urls, topicId));
}

/** A mirror at one or several addresses, under a name. */
export function mirrorSource(name: string, urls: readonly string[], topicId: EntityId): MessageSource {
  const client = new MirrorClient(urls);
  let turn = 0;
  return {
    name,
    async messages(after, signal) {
      const mirror = client.mirrors[turn % client.mirrors.length] ?? '';
      try {
        return await client.messages(mirror, topicId, after, signal);
      } catch (error) {
        turn++;
        throw error;
      }
    },
  };
}

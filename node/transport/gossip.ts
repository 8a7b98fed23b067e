import { TopicValidatorResult } from '@chainsafe/libp2p-gossipsub';
import { reasonOf, TransportError } from './errors.ts';
import type { GossipSub, Message } from '@chainsafe/libp2p-gossipsub';
import type { PeerId } from '@libp2p/interface';
import type { Logger } from 'pino';
import type { Receive, Topic, ValidationResult, WireFault } from './contract.ts';
import { GRAYLIST_SCORE } from './gossip-options.ts';
import type { FloodGuard } from './flood-guard.ts';
import type { TransportLimits } from './limits.ts';
import type { Members } from './members.ts';
import type { WireNames } from './names.ts';
import { MessageGate } from './rate-limit.ts';

const VERDICTS: Record<ValidationResult, TopicValidatorResult> = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject,
};

interface GossipOptions {
  readonly pubsub: GossipSub;
  readonly names: WireNames;
  readonly members: Members;
  readonly receive: Receive;
  readonly onFault: (node: string, fault: WireFault) => void;
  readonly limits: Readonly<TransportLimits>;
  readonly guard: Pick<FloodGuard, 'admitArrivals' | 'noteRefusal'>;
  readonly log: Logger;
}

/** Topics of the federation: what is published, and what arrives. Gossip has no history; absent peers pull. */
export class GossipTransport {
  readonly #pubsub: GossipSub;
  readonly #names: WireNames;
  readonly #members: Members;
  readonly #receive: Receive;
  readonly #onFault: GossipOptions['onFault'];
  readonly #limits: Readonly<TransportLimits>;
  readonly #log: Logger;
  readonly #gate: MessageGate;

  constructor(options: GossipOptions) {
    const { pubsub, names, members, receive, onFault, limits, log } = options;
    this.#pubsub = pubsub;
    this.#names = names;
    this.#members = members;
    this.#receive = receive;
    this.#onFault = onFault;
    this.#gate = new MessageGate(limits);
    this.#limits = limits;
    this.#log = log;
    guardFrames(pubsub, options);
  }

  /** Validators are set before subscribing, so that no message passes unseen. */
  join() {
    for (const name of this.#names.topics) {
      this.#pubsub.topicValidators.set(name, async (from, message) => VERDICTS[await this.#judge(from, message)]);
      this.#pubsub.subscribe(name);
    }
  }

  async publish(topic: Topic, data: Uint8Array): Promise<number> {
    if (data.length > this.#limits.messageBytes) {
      throw new TransportError('too-large', `a message of ${data.length} bytes is over ${this.#limits.messageBytes}`);
    }
    try {
      const { recipients } = await this.#pubsub.publish(this.#names.topic(topic), data);
      return recipients.length;
    } catch (error) {
      // gossipsub tells its errors apart by message only
      if (error instanceof Error && error.message === 'PublishError.NoPeersSubscribedToTopic') return 0;
      throw error;
    }
  }

  /** Topics of ours that the peer is subscribed to, as far as we know. */
  subscriptionsOf(peer: PeerId): Topic[] {
    return this.#names.topics.flatMap((name) => {
      const topic = this.#names.topicOf(name);
      return topic !== null && this.#pubsub.getSubscribers(name).some((other) => other.equals(peer)) ? [topic] : [];
    });
  }

  /** The peer's gossip score; null where the router does not tell. */
  scoreOf(peer: PeerId): number | null {
    return tellsScores(this.#pubsub) ? this.#pubsub.getScore(peer.toString()) : null;
  }

  async #judge(forwarder: PeerId, message: Message): Promise<ValidationResult> {
    const topic = this.#names.topicOf(message.topic);
    if (topic === null || message.type !== 'signed') return 'reject';
    const author = this.#members.nodeOf(message.from);
    if (message.data.length > this.#limits.messageBytes) {
      if (author !== null) this.#onFault(author, 'oversize');
      return 'reject';
    }
    // An author that we do not know may be a member of a roster that has not reached us: no forwarder is to blame.
    if (author === null) return 'ignore';
    const sender = this.#members.nodeOf(forwarder) ?? author;
    const release = this.#gate.admit(author, sender, performance.now());
    if (release === 'sender') this.#onFault(sender, 'flood');
    if (typeof release === 'string') return 'ignore';
    try {
      return await this.#receive(topic, message.data, author);
    } catch (error) {
      this.#log.error({ topic, author, error: reasonOf(error) }, 'gossip receiver failed');
      return 'ignore';
    } finally {
      release();
    }
  }
}

/** The router has scores, and its public type does not say so. */
function tellsScores(pubsub: object): pubsub is { getScore(peer: string): number } {
  return 'getScore' in pubsub && typeof pubsub.getScore === 'function';
}

/**
 * Looks at every frame before the router does, which would check the signatures of any number of messages. One of whose
 * messages too many were invalid the router hears nothing more; it says so to nobody.
 */
function guardFrames(pubsub: object, { guard, members, onFault }: GossipOptions) {
  if (!takesFrames(pubsub)) throw new Error('the router does not take its frames where they are looked at');
  const take = pubsub.handleReceivedRpc.bind(pubsub);
  pubsub.handleReceivedRpc = async (from, rpc) => {
    if (!guard.admitArrivals(from, Math.max(1, rpc.messages?.length ?? 0))) return;
    const name = members.nodeOf(from);
    if (name !== null && tellsScores(pubsub) && pubsub.getScore(from.toString()) < GRAYLIST_SCORE) {
      onFault(name, 'malformed');
      guard.noteRefusal(from);
    }
    await take(from, rpc);
  };
}

interface Frame {
  readonly messages?: readonly unknown[];
}

/** The router has one place where frames come in, meant to be replaced, and its public type does not say so. */
function takesFrames(pubsub: object): pubsub is { handleReceivedRpc(from: PeerId, rpc: Frame): Promise<void> } {
  return 'handleReceivedRpc' in pubsub && typeof pubsub.handleReceivedRpc === 'function';
}

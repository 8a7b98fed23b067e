/** A token bucket: `burst` at once, `rate` a second after that. Times in milliseconds from any steady clock. */
export class Bucket {
  readonly #rate: number;
  readonly #burst: number;
  #tokens: number;
  #at: number;

  constructor(rate: number, burst: number, now: number) {
    this.#rate = rate;
    this.#burst = burst;
    this.#tokens = burst;
    this.#at = now;
  }

  /** Whether there is a token to take. */
  fill(now: number): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#rate);
    this.#at = now;
    return this.#tokens >= 1;
  }

  take(tokens = 1) {
    this.#tokens -= tokens;
  }
}

export interface RequestRates {
  readonly requestsInFlightPerPeer: number;
  readonly requestsInFlight: number;
  readonly requestRatePerPeer: number;
  readonly requestBurstPerPeer: number;
  readonly requestRate: number;
  readonly requestBurst: number;
}

interface Peer {
  readonly bucket: Bucket;
  inFlight: number;
}

/**
 * Decides which requests are served: bounds on the rate and on those in flight, for each peer and in all. The bound for
 * each peer is looked at first, so that a greedy one spends nothing of what belongs to all.
 */
export class RequestGate {
  readonly #rates: RequestRates;
  readonly #all: Bucket;
  readonly #peers = new Map<string, Peer>();
  #inFlight = 0;

  constructor(rates: RequestRates, now: number) {
    this.#rates = rates;
    this.#all = new Bucket(rates.requestRate, rates.requestBurst, now);
  }

  /** Admits a request and returns what ends it, to be called once; null when the peer is to come back later. */
  admit(node: string, now: number): (() => void) | null {
    const peer = this.#peerOf(node, now);
    if (peer.inFlight >= this.#rates.requestsInFlightPerPeer || !peer.bucket.fill(now)) return null;
    if (this.#inFlight >= this.#rates.requestsInFlight || !this.#all.fill(now)) return null;
    peer.bucket.take();
    this.#all.take();
    peer.inFlight += 1;
    this.#inFlight += 1;
    return () => {
      peer.inFlight -= 1;
      this.#inFlight -= 1;
    };
  }

  /** Forgets idle peers that are members no longer. */
  keepOnly(nodes: ReadonlySet<string>) {
    for (const [node, peer] of this.#peers) if (!nodes.has(node) && peer.inFlight === 0) this.#peers.delete(node);
  }

  #peerOf(node: string, now: number): Peer {
    const known = this.#peers.get(node);
    if (known !== undefined) return known;
    const bucket = new Bucket(this.#rates.requestRatePerPeer, this.#rates.requestBurstPerPeer, now);
    const peer = { bucket, inFlight: 0 };
    this.#peers.set(node, peer);
    return peer;
  }
}

export interface MessageRates {
  readonly validationsInFlight: number;
  readonly validationsInFlightPerPeer: number;
  readonly messageRatePerPeer: number;
  readonly messageBurstPerPeer: number;
}

/** Others' messages that one member may hand over, for each of its own: it passes on those of all. */
const RELAYED_SHARE = 4;

/**
 * Decides which gossiped messages are judged: so many of one sender a second and at once, and so many at once in all.
 * An author pays for what it hands over itself; for what others hand over they pay, so that nobody is silenced by
 * anyone who plays its old messages again.
 */
export class MessageGate {
  readonly #rates: MessageRates;
  readonly #authors = new Map<string, Peer>();
  readonly #relays = new Map<string, Peer>();
  #inFlight = 0;

  constructor(rates: MessageRates) {
    this.#rates = rates;
  }

  /** Admits a message and returns what ends it, to be called once; or who has sent too much: the sender, or all. */
  admit(author: string, sender: string, now: number): (() => void) | 'sender' | 'all' {
    const payer = author === sender ? this.#peerOf(this.#authors, author, 1, now) : this.#relayOf(sender, now);
    if (payer.inFlight >= this.#rates.validationsInFlightPerPeer || !payer.bucket.fill(now)) return 'sender';
    if (this.#inFlight >= this.#rates.validationsInFlight) return 'all';
    payer.bucket.take();
    payer.inFlight += 1;
    this.#inFlight += 1;
    return () => {
      payer.inFlight -= 1;
      this.#inFlight -= 1;
    };
  }

  #relayOf(sender: string, now: number): Peer {
    return this.#peerOf(this.#relays, sender, RELAYED_SHARE, now);
  }

  #peerOf(peers: Map<string, Peer>, node: string, share: number, now: number): Peer {
    const known = peers.get(node);
    if (known !== undefined) return known;
    const { messageRatePerPeer, messageBurstPerPeer } = this.#rates;
    const bucket = new Bucket(messageRatePerPeer * share, messageBurstPerPeer * share, now);
    const fresh = { bucket, inFlight: 0 };
    peers.set(node, fresh);
    return fresh;
  }
}

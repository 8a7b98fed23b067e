/** A token bucket: `burst` at once, `rate` a second after that. Times in milliseconds from any steady clock. */
class Bucket {
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

  fill(now: number): boolean {
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#at) / 1000) * this.#rate);
    this.#at = now;
    return this.#tokens >= 1;
  }

  take() {
    this.#tokens -= 1;
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

/** Decides which gossiped messages are judged: so many of one author a second and at once, and so many at once in all. */
export class MessageGate {
  readonly #rates: MessageRates;
  readonly #authors = new Map<string, Peer>();
  #inFlight = 0;

  constructor(rates: MessageRates) {
    this.#rates = rates;
  }

  /** Admits a message and returns what ends it, to be called once; or who has sent too much: the author, or all. */
  admit(author: string, now: number): (() => void) | 'author' | 'all' {
    const known = this.#authorOf(author, now);
    if (known.inFlight >= this.#rates.validationsInFlightPerPeer || !known.bucket.fill(now)) return 'author';
    if (this.#inFlight >= this.#rates.validationsInFlight) return 'all';
    known.bucket.take();
    known.inFlight += 1;
    this.#inFlight += 1;
    return () => {
      known.inFlight -= 1;
      this.#inFlight -= 1;
    };
  }

  #authorOf(author: string, now: number): Peer {
    const known = this.#authors.get(author);
    if (known !== undefined) return known;
    const { messageRatePerPeer, messageBurstPerPeer } = this.#rates;
    const fresh = { bucket: new Bucket(messageRatePerPeer, messageBurstPerPeer, now), inFlight: 0 };
    this.#authors.set(author, fresh);
    return fresh;
  }
}

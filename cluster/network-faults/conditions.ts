/** What one direction of a link does to the bytes that pass it. */
export interface Conditions {
  /** Nothing passes, and nobody is told: what was sent waits, as with packets that are dropped. */
  readonly cut: boolean;
  /** One way, in milliseconds. */
  readonly delayMs: number;
  /** Share of packets that are lost, 0 to 1. The sender's TCP sends each again, later. */
  readonly loss: number;
  readonly bytesPerSecond: number;
}

export const NO_FAULTS: Conditions = { cut: false, delayMs: 0, loss: 0, bytesPerSecond: Number.POSITIVE_INFINITY };

/** Bytes of a packet. */
const PACKET_BYTES = 1_400;
/** What a lost packet holds up all that come after it: the least retransmission time-out of Linux. In milliseconds. */
const RESEND_MS = 200;

/** How long the loss of packets holds up `bytes`, in milliseconds. `random` is uniform in [0, 1). */
export function lossDelay(loss: number, bytes: number, random: () => number): number {
  if (loss === 0) return 0;
  const packets = Array.from({ length: Math.ceil(bytes / PACKET_BYTES) }, random);
  return packets.filter((dice) => dice < loss).length * RESEND_MS;
}

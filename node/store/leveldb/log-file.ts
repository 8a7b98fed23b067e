import type { FileHandle } from 'node:fs/promises';
import { crc32c, maskCrc } from './crc32c.ts';
import { finding, type FileFinding, type FindingCode } from './finding.ts';

export interface LogRecord {
  readonly offset: number;
  readonly payload: Buffer;
}

export interface LogScan {
  /** Name for the findings. */
  readonly name: string;
  readonly file: FileHandle;
  /** Whether whole records are wanted; without them memory stays at one block. */
  readonly collect: boolean;
}

interface Fragment {
  readonly type: number;
  readonly offset: number;
  readonly payload: Buffer;
}

const BLOCK_BYTES = 32_768;
/** Masked CRC-32C (4), length (2), type (1). The CRC covers the type and the payload. */
const HEADER_BYTES = 7;
const FULL = 1;
const FIRST = 2;
const MIDDLE = 3;
const LAST = 4;

/**
 * Reads a MANIFEST or *.log file (google/leveldb doc/log_format.md) and yields its records, where they are wanted, and
 * everything wrong with it. A file that ends inside a record is `torn-tail`, unless the bytes that are there match the
 * record's checksum: then the length is what was damaged. After damage it goes on with the next block.
 */
export async function* scanLog({ name, file, collect }: LogScan): AsyncGenerator<LogRecord | FileFinding> {
  const { size } = await file.stat();
  const buffer = Buffer.alloc(BLOCK_BYTES);
  const assembly = new Assembly(name, collect);
  for (let start = 0; start < size; start += BLOCK_BYTES) {
    const { bytesRead } = await file.read(buffer, 0, BLOCK_BYTES, start);
    for (const found of scanBlock(name, buffer.subarray(0, bytesRead), start)) {
      if ('severity' in found) {
        assembly.abandon();
        yield found;
      } else {
        yield* assembly.add(found);
      }
    }
  }
  yield* assembly.finish(size);
}

function* scanBlock(name: string, block: Buffer, start: number): Generator<Fragment | FileFinding> {
  let at = 0;
  while (block.length - at >= HEADER_BYTES) {
    const length = block.readUInt16LE(at + 4);
    const end = at + HEADER_BYTES + length;
    const fault = faultOfFragment(block, at, end);
    if (fault !== null) {
      yield finding(fault, name, start + at, FAULTS[fault]);
      return;
    }
    yield { type: block.readUInt8(at + 6), offset: start + at, payload: block.subarray(at + HEADER_BYTES, end) };
    at = end;
  }
  if (at === block.length) return;
  if (block.length < BLOCK_BYTES) yield finding('torn-tail', name, start + at, 'the file ends inside a header');
  else if (!isZero(block.subarray(at))) yield finding('record-padding', name, start + at, FAULTS['record-padding']);
}

type FragmentFault = 'torn-tail' | 'record-checksum' | 'record-length' | 'record-type';

const FAULTS = {
  'torn-tail': 'the file ends inside a record',
  'record-checksum': 'the checksum of a record does not match',
  'record-length': 'the length of a record is wrong',
  'record-type': 'a record has an unknown type',
  'record-padding': 'the padding of a block is not zero',
} as const satisfies Partial<Record<FindingCode, string>>;

/** What is wrong with the fragment whose header is at `at` and that claims to end before `end`. */
function faultOfFragment(block: Buffer, at: number, end: number): FragmentFault | null {
  if (end > BLOCK_BYTES) return 'record-length';
  if (end > block.length) return holdsWholeFragment(block.subarray(at)) ? 'record-length' : 'torn-tail';
  const crc = crc32c(block.subarray(at + 6, end));
  if (maskCrc(crc) !== block.readUInt32LE(at)) {
    const neverWritten = block.length < BLOCK_BYTES && isZero(block.subarray(at));
    return neverWritten ? 'torn-tail' : 'record-checksum';
  }
  const type = block.readUInt8(at + 6);
  return type >= FULL && type <= LAST ? null : 'record-type';
}

/** Whether the checksum fits some shorter length than the one claimed, so that nothing is missing after all. */
function holdsWholeFragment(bytes: Buffer): boolean {
  const wanted = bytes.readUInt32LE(0);
  let crc = crc32c(bytes.subarray(6, 7));
  for (let at = HEADER_BYTES; at <= bytes.length; at++) {
    if (maskCrc(crc) === wanted) return true;
    crc = crc32c(bytes.subarray(at, at + 1), crc);
  }
  return false;
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Puts fragments together into records, and checks that each follows from the one before. */
class Assembly {
  readonly #name: string;
  readonly #collect: boolean;
  #parts: Buffer[] = [];
  #offset = 0;
  #state: 'between' | 'inside' | 'lost' = 'between';

  constructor(name: string, collect: boolean) {
    this.#name = name;
    this.#collect = collect;
  }

  /** After damage, fragments up to the next start of a record belong to a record already reported. */
  abandon(): void {
    this.#parts = [];
    this.#state = 'lost';
  }

  *add({ type, offset, payload }: Fragment): Generator<LogRecord | FileFinding> {
    const starts = type === FULL || type === FIRST;
    if (starts ? this.#state === 'inside' : this.#state === 'between') {
      const detail = starts ? 'a record starts inside another' : 'a record goes on that never started';
      yield finding('record-order', this.#name, offset, detail);
    }
    if (starts) {
      this.#parts = [];
      this.#offset = offset;
      this.#state = 'inside';
    }
    if (this.#state !== 'inside') return;
    if (this.#collect) this.#parts.push(Buffer.from(payload));
    if (type === FIRST || type === MIDDLE) return;
    this.#state = 'between';
    if (this.#collect) yield { offset: this.#offset, payload: Buffer.concat(this.#parts) };
  }

  *finish(size: number): Generator<FileFinding> {
    if (this.#state === 'inside') yield finding('torn-tail', this.#name, size, 'the file ends between two fragments');
  }
}

import type { FileHandle } from 'node:fs/promises';
import { finding, type FileFinding } from './finding.ts';
import { FormatError, FormatReader, type BlockHandle } from './format-reader.ts';
import { BLOCK_TRAILER_BYTES, faultOfBlock, FileWindow, readRows } from './table-block.ts';

export interface TableScan {
  /** Name for the findings. */
  readonly name: string;
  readonly file: FileHandle;
  /** Size in bytes that the MANIFEST gives. */
  readonly size: number;
}

interface Footer {
  readonly metaindex: BlockHandle;
  readonly index: BlockHandle;
}

const FOOTER_BYTES = 48;
const MAGIC_BYTES = 8;
const MAGIC = 0xdb4775248b80fb57n;

/**
 * Checks a table (google/leveldb doc/table_format.md) and yields what is wrong: its size, its footer, the checksum of
 * every block, and that the blocks lie end to end, so that every byte of the file belongs to something checked. The
 * rows inside data blocks are not parsed.
 */
export async function* scanTable({ name, file, size }: TableScan): AsyncGenerator<FileFinding> {
  const actual = (await file.stat()).size;
  if (actual !== size) {
    yield finding('table-size', name, null, `the file has ${actual} bytes, the MANIFEST says ${size}`);
    return;
  }
  const window = new FileWindow(file);
  try {
    const end = size - FOOTER_BYTES;
    if (end < 0) throw new FormatError('the file is shorter than a footer');
    const footer = readFooter(await window.exactly(end, FOOTER_BYTES));
    yield* scanBlocks(name, window, footer, end);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    yield finding('table-footer', name, Math.max(0, size - FOOTER_BYTES), error.message);
  }
}

function readFooter(bytes: Buffer): Footer {
  const magicAt = FOOTER_BYTES - MAGIC_BYTES;
  if (bytes.readBigUInt64LE(magicAt) !== MAGIC) throw new FormatError('the magic number is wrong');
  const reader = new FormatReader(bytes.subarray(0, magicAt));
  const footer = { metaindex: reader.handle(), index: reader.handle() };
  if (reader.rest().some((byte) => byte !== 0)) throw new FormatError('the padding of the footer is not zero');
  return footer;
}

/** `end` is where the footer starts. The order in a file: data blocks, meta blocks, metaindex, index, footer. */
async function* scanBlocks(
  name: string,
  window: FileWindow,
  { metaindex, index }: Footer,
  end: number,
): AsyncGenerator<FileFinding> {
  const directories = [metaindex, index];
  const faults = await faultsOf(name, window, directories, end);
  yield* faults;
  // Without its directories nobody can say where the other blocks are.
  if (faults.length > 0) return;
  const blocks: BlockHandle[] = [];
  for (const directory of [index, metaindex]) {
    try {
      for (const [, value] of await readRows(window, directory)) blocks.push(soleHandle(value));
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      yield finding('block-malformed', name, directory.offset, error.message);
      return;
    }
  }
  yield* faultsOfLayout(name, [...blocks, ...directories], end);
  yield* await faultsOf(name, window, blocks, end);
}

function soleHandle(value: Buffer): BlockHandle {
  const reader = new FormatReader(value);
  const handle = reader.handle();
  if (reader.left > 0) throw new FormatError('bytes follow a block handle');
  return handle;
}

async function faultsOf(
  name: string,
  window: FileWindow,
  blocks: readonly BlockHandle[],
  end: number,
): Promise<FileFinding[]> {
  const faults: FileFinding[] = [];
  for (const block of blocks) {
    if (endOf(block) > end) {
      faults.push(finding('table-layout', name, block.offset, 'a block reaches past the place for blocks'));
      continue;
    }
    const fault = await faultOfBlock(window, block);
    if (fault !== null) faults.push(finding('block-checksum', name, block.offset, fault));
  }
  return faults;
}

/** Blocks must follow one another with no byte between them and none shared. */
function* faultsOfLayout(name: string, blocks: readonly BlockHandle[], end: number): Generator<FileFinding> {
  let at = 0;
  for (const block of blocks) {
    if (block.offset !== at) {
      yield finding('table-layout', name, at, `a block starts at ${block.offset} where the one before ends at ${at}`);
    }
    at = endOf(block);
  }
  if (at !== end) yield finding('table-layout', name, at, `the blocks end at ${at}, the footer starts at ${end}`);
}

function endOf({ offset, size }: BlockHandle): number {
  return offset + size + BLOCK_TRAILER_BYTES;
}

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  parseTilePath,
  type TileName,
  TilePathError,
  tileWidth,
  writeTilePath,
} from '../../../protocol/log/tile-path.ts';
import { fc } from '../../fixtures/properties.ts';

const NAMES: readonly (readonly [string, TileName])[] = [
  ['tile/0/000', { level: 0, index: 0, width: 256 }],
  ['tile/0/000.p/1', { level: 0, index: 0, width: 1 }],
  ['tile/0/x001/x234/067', { level: 0, index: 1_234_067, width: 256 }],
  ['tile/0/x001/x234/067.p/255', { level: 0, index: 1_234_067, width: 255 }],
  ['tile/1/999', { level: 1, index: 999, width: 256 }],
  ['tile/6/000.p/31', { level: 6, index: 0, width: 31 }],
  ['tile/entries/x001/000.p/7', { level: 'entries', index: 1000, width: 7 }],
  ['tile/entries/273.p/112', { level: 'entries', index: 273, width: 112 }],
];

test('tiles are named as C2SP tlog-tiles names them', () => {
  for (const [path, name] of NAMES) {
    assert.is(writeTilePath(name), path);
    assert.equal(parseTilePath(path), name);
  }
});

test('a name of another form, or a second one of the same tile, is refused', () => {
  const refused = [
    '',
    'tile/0',
    'tile/0/',
    'tile/0/0',
    'tile/0/0000',
    'tile/0/x000/000',
    'tile/0/x000/x000/001',
    'tile/0/001/000',
    'tile/0/x001',
    'tile/0/x001/000/',
    'tile/0/001.p/0',
    'tile/0/001.p/256',
    'tile/0/001.p/01',
    'tile/0/001.p/',
    'tile/0/001.p/1/',
    'tile/00/001',
    'tile/01/001',
    'tile/-1/001',
    'tile/7/000.p/1',
    'tile/63/000',
    'tile/100/000',
    'tile/data/000',
    '/tile/0/000',
    'tile/0/000\n',
    'tile/0/٠٠٠',
    'Tile/0/000',
    'tile/0/X001/000',
    'tile/0/x999/x999/x999/x999/x999/999',
    `tile/0/${'x000/'.repeat(100_000)}000`,
  ];
  for (const path of refused) assert.throws(() => parseTilePath(path), isTilePathError, path.slice(0, 60));
});

test('a tile that no log has is not written', () => {
  const refused: readonly TileName[] = [
    { level: 0, index: -1, width: 1 },
    { level: 0, index: 0, width: 0 },
    { level: 0, index: 0, width: 257 },
    { level: 0, index: 0.5, width: 1 },
    { level: 1.5, index: 0, width: 1 },
    { level: -1, index: 0, width: 1 },
    { level: 7, index: 0, width: 1 },
    { level: 6, index: 0, width: 32 },
    { level: 0, index: 2 ** 45, width: 1 },
    { level: 'entries', index: Number.NaN, width: 1 },
  ];
  for (const name of refused) assert.throws(() => writeTilePath(name), isTilePathError, JSON.stringify(name));
  assert.is(writeTilePath({ level: 6, index: 0, width: 31 }), 'tile/6/000.p/31');
  assert.is(writeTilePath({ level: 0, index: 2 ** 45 - 1, width: 255 }), 'tile/0/x035/x184/x372/x088/831.p/255');
});

test('every tile has one name, which is read back', () => {
  const anyName = fc.record(
    {
      level: fc.oneof(fc.constant<'entries'>('entries'), fc.integer({ min: 0, max: 3 })),
      index: fc.oneof(fc.nat({ max: 2000 }), fc.nat({ max: 2 ** 20 })),
      width: fc.integer({ min: 1, max: 256 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(anyName, (name) => {
      assert.equal(parseTilePath(writeTilePath(name)), name);
    }),
    { numRuns: 500 },
  );
});

test('the tiles of a log of 70,000 entries are those of the example of C2SP', () => {
  const widths = (level: number, last: number) => [last, last + 1, last + 2].map((at) => tileWidth(70_000, level, at));
  assert.equal(widths(0, 272), [256, 112, 0]);
  assert.equal(widths(1, 0), [256, 17, 0]);
  assert.equal(widths(2, 0), [1, 0, 0]);
  assert.is(tileWidth(70_000, 3, 0), 0);
  assert.equal([tileWidth(256, 0, 0), tileWidth(256, 0, 1), tileWidth(256, 1, 0)], [256, 0, 1]);
  assert.is(tileWidth(0, 0, 0), 0);
});

function isTilePathError(error: unknown): boolean {
  return error instanceof TilePathError;
}

test.run();

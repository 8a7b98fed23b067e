import { cyclesOf, type SourceFile } from './source-graph.ts';

/** Top folders, lowest first: each imports only those before it. */
export const TOP_ORDER = ['protocol', 'node', 'cluster', 'scripts', 'test'] as const;

/** Folders and files of `node/`, lowest first: each imports, values or types, only what stands before it. */
export const NODE_ORDER = [
  'concurrency',
  'compiled',
  'store',
  'outbound',
  'keys',
  'records',
  'anchoring',
  'log',
  'intake',
  'accounts',
  'transport',
  'federation',
  'verification',
  'certificates',
  'governance',
  'payments',
  'screening',
  'services',
  'metrics',
  'config',
  'pages',
  'packs',
  'alerts',
  'fsck',
  'http',
  'operator',
  'wiring',
  'context.ts',
  'routes.ts',
  'app.ts',
  'run.ts',
  'main.ts',
] as const;

export interface Layer {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
  /** Of the lines of its files. */
  readonly median: number;
  /** Below 60 lines. */
  readonly small: number;
  /** Other layers that it imports. */
  readonly imports: readonly string[];
}

export interface Layers {
  /** In the declared order; what it does not name comes last. */
  readonly layers: readonly Layer[];
  readonly unplaced: readonly string[];
  /** `importer -> imported`: imports against the order. */
  readonly back: readonly string[];
  readonly folderCycles: readonly (readonly string[])[];
  readonly fileCycles: readonly (readonly string[])[];
}

const SMALL_LINES = 60;

/** What the sources are by an order of layers, of which `layerOf` names the one of a file. */
export function layersOf(
  sources: readonly SourceFile[],
  order: readonly string[],
  layerOf: (path: string) => string,
): Layers {
  const place = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  const groups = Map.groupBy(sources, ({ path }) => layerOf(path));
  const importsOf = (name: string): ReadonlySet<string> => {
    const all = (groups.get(name) ?? []).flatMap(({ imports }) => imports.map(layerOf));
    return new Set(all.filter((other) => other !== name && groups.has(other)));
  };
  const names = [...groups.keys()].toSorted((a, b) => place(a) - place(b) || a.localeCompare(b));
  const graph = new Map(names.map((name) => [name, importsOf(name)]));
  const back = sources.flatMap(({ path, imports }) =>
    imports
      .filter((imported) => groups.has(layerOf(imported)) && place(layerOf(imported)) > place(layerOf(path)))
      .map((imported) => `${path} -> ${imported}`),
  );
  return {
    layers: names.map((name) => layer(name, groups.get(name) ?? [], [...(graph.get(name) ?? [])])),
    unplaced: names.filter((name) => !order.includes(name)),
    back,
    folderCycles: cyclesOf(graph),
    fileCycles: cyclesOf(new Map(sources.map(({ path, imports }) => [path, imports]))),
  };
}

/** The folder of `node/` that a file is in, or the name of a file that stands in none; for others their top folder. */
export function nodeLayerOf(path: string): string {
  const [top = '', folder = ''] = path.split('/');
  return top === 'node' ? folder : top;
}

/** The top folder of a file. */
export function topOf(path: string): string {
  return path.split('/', 1)[0] ?? '';
}

/** Of whole numbers; 0 of none. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = 0, high = low] = [sorted[middle - 1 + (sorted.length & 1)], sorted[middle]];
  return Math.round((low + high) / 2);
}

function layer(name: string, files: readonly SourceFile[], imports: readonly string[]): Layer {
  const lines = files.map((file) => file.lines);
  return {
    name,
    files: files.length,
    lines: lines.reduce((sum, count) => sum + count, 0),
    median: medianOf(lines),
    small: lines.filter((count) => count < SMALL_LINES).length,
    imports,
  };
}

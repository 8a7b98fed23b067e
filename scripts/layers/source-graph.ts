import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Static imports and re-exports, of values or types, and `import()`. */
const IMPORTED = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+\.ts)['"]/g;

export interface SourceFile {
  /** From the root of the repository, with slashes. */
  readonly path: string;
  readonly lines: number;
  /** Paths of the files that it names, each once. */
  readonly imports: readonly string[];
}

/**
 * Reads the TypeScript files of these top folders of `root`. A file that an import names and that is not there is left
 * out.
 */
export function readSources(root: string, tops: readonly string[]): readonly SourceFile[] {
  const paths = tops
    .flatMap((top) => globSync(`${top}/**/*.{ts,tsx}`, { cwd: root, exclude: ['**/node_modules/**'] }))
    .sort();
  const known = new Set(paths);
  return paths.map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const named = [...text.matchAll(IMPORTED)].map(([, name = '']) => name);
    const imports = new Set(
      named.map((name) => normalize(join(dirname(path), name))).filter((name) => known.has(name)),
    );
    return { path, lines: text.split('\n').length - 1, imports: [...imports] };
  });
}

/** Groups of nodes that reach each other, each of more than one node (Tarjan's strongly connected components). */
export function cyclesOf(graph: ReadonlyMap<string, Iterable<string>>): readonly (readonly string[])[] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): number => {
    const own = index.size;
    index.set(node, own);
    low.set(node, own);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) low.set(node, Math.min(lowOf(node), visit(next)));
      else if (stack.includes(next)) low.set(node, Math.min(lowOf(node), index.get(next) ?? own));
    }
    if (lowOf(node) === own) {
      const members = stack.splice(stack.indexOf(node));
      if (members.length > 1) cycles.push(members.sort());
    }
    return lowOf(node);
  };
  const lowOf = (node: string): number => low.get(node) ?? 0;
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return cycles;
}

import type { build as esbuild, Plugin } from 'esbuild';
import { Semaphore } from '../concurrency/semaphore.ts';

/** One at a time in a process: the end of one ends the service of esbuild, and with it whatever runs there. */
const BUILDING = new Semaphore({ places: 1 });

export type Build = typeof esbuild;

/** Runs work that builds with esbuild, whose service is there for as long as the work takes. */
export async function withEsbuild<Result>(work: (build: Build) => Promise<Result>): Promise<Result> {
  using _alone = await BUILDING.enter();
  const { build, stop } = await import('esbuild');
  try {
    return await work(build);
  } finally {
    await stop();
  }
}

/**
 * The schema library asks whether code can be evaluated by evaluating some, which a policy without `unsafe-eval`
 * reports. In a browser nothing is evaluated: its checks run uncompiled.
 */
export const withoutEvaluation: Plugin = {
  name: 'without-evaluation',
  setup({ onLoad }) {
    onLoad({ filter: /typebox[\\/]build[\\/]system[\\/]environment[\\/]evaluate\.mjs$/ }, () => ({
      contents:
        'export const CanEvaluate = () => false;\n' +
        "export const Evaluate = () => { throw new EvalError('nothing is evaluated'); };\n",
    }));
  },
};

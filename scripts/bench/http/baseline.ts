import { serveRecords } from './koa-front.ts';

/**
 * A bare answer on Koa: the one that a node gave, handed over as the first argument, so that both send as much. Nothing
 * is checked, signed or stored.
 */
const answer: unknown = JSON.parse(process.argv[2] ?? 'null');
if (typeof answer !== 'object' || answer === null) throw new Error('the first argument is the answer, a JSON object');
serveRecords(() => ({ ...answer }));

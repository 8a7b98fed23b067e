import type { TestNode } from '../../../fixtures/test-node.ts';

interface HealthText {
  readonly status: number;
  readonly signer: string;
  readonly waits: readonly { readonly for: string }[];
}

/** What a node's health page says, of one that starts too. Rejects where nothing listens. */
export async function healthOf(node: TestNode): Promise<HealthText> {
  const { status, text } = await node.get('/v1/health', { key: null });
  const { checks, waits }: { checks: { signer: string }; waits: HealthText['waits'] } = JSON.parse(text);
  return { status, signer: checks.signer, waits };
}

/** Status and signer of a node's health page; null where nothing listens. */
export async function signerOf(node: TestNode): Promise<string | null> {
  const health = await healthOf(node).catch(() => null);
  return health === null ? null : `${health.status} ${health.signer}`;
}

/** What a node waits for; nothing where nothing listens. */
export async function waitsOf(node: TestNode): Promise<readonly string[]> {
  const health = await healthOf(node).catch(() => null);
  return health === null ? [] : health.waits.map((wait) => wait.for);
}

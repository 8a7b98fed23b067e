import type { NodeId } from '../../protocol/ids.ts';
import type { RosterChain } from '../../protocol/keys/roster-chain.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { hashOfRoster, type Roster } from '../../protocol/log/roster.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import type { Rosters } from './source.ts';
import type { Electorate } from './votes.ts';

/** Every version of the rosters, one a line, and the members of the newest. */
export function rostersText({ chain, answer }: Rosters): string {
  const lines = chain.rosters.map((roster, i) => {
    const { statement = '', signatures = [] } = chain.signed[i] ?? {};
    const anchored = answer === null ? '' : `  ledger ${answer.anchored[i] ?? '-'}`;
    return `${roster.version}  ${hashOfRoster(nativeSuite, statement)}  ${changeText(roster, chain.rosters[i - 1])}  signed by ${namesOf(signatures)}${anchored}`;
  });
  const rivals = (answer?.rivals ?? []).map(({ version, hash }) => `RIVAL of version ${version}: ${hash}`);
  return [...lines, ...rivals, '', membersText(chain.current), `fingerprint ${chain.genesis}`].join('\n');
}

/** A proposal, what it changes, and whose signatures it has. */
export function proposalText(
  { statement }: SignedRoster,
  roster: Roster,
  chain: RosterChain | null,
  { needed }: Electorate,
  signers: ReadonlySet<NodeId>,
): string {
  return [
    `roster ${roster.version}  ${hashOfRoster(nativeSuite, statement)}`,
    `change: ${changeText(roster, roster.version === 1 ? undefined : chain?.current)}`,
    membersText(roster),
    `signed by ${[...signers].join(' ') || 'nobody'}: ${signers.size} of ${needed}`,
  ].join('\n');
}

/** What differs from the roster before. */
function changeText(roster: Roster, before: Roster | undefined): string {
  if (before === undefined) return `founded by ${roster.members.map(({ node }) => node).join(' ')}`;
  const known = new Map(before.members.map((member) => [member.node, member]));
  const now = new Set(roster.members.map(({ node }) => node));
  const added = roster.members.filter(({ node }) => !known.has(node)).map(({ node }) => `+${node}`);
  const moved = roster.members.flatMap((member) => {
    const old = known.get(member.node);
    return old !== undefined && JSON.stringify(old) !== JSON.stringify(member) ? [`~${member.node}`] : [];
  });
  const removed = before.members.filter(({ node }) => !now.has(node)).map(({ node }) => `-${node}`);
  const quorum = roster.quorum === before.quorum ? [] : [`quorum ${before.quorum}→${roster.quorum}`];
  const reach =
    roster.revocationReach === before.revocationReach
      ? []
      : [`reach ${before.revocationReach}→${roster.revocationReach} s`];
  return [...added, ...removed, ...moved, ...quorum, ...reach].join(' ') || 'nothing';
}

function membersText({ members, quorum, revocationReach }: Roster): string {
  const lines = members.map(
    ({ node, region, baseUrl, multiaddrs, accounts }) =>
      `  ${node.padEnd(4)}  ${region}  ${baseUrl}  ${[...multiaddrs, ...accounts].join(' ')}`,
  );
  return [`members (quorum ${quorum}, revocations reach back ${revocationReach} s):`, ...lines].join('\n');
}

function namesOf(signatures: SignedRoster['signatures']): string {
  return signatures.map(({ node }) => node).join(' ');
}

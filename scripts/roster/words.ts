import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { Roster } from '../../protocol/log/roster.ts';
import { fingerprintWords } from '../../protocol/verdict/fingerprint-words.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import type { Rosters, RostersAnswer } from './source.ts';

/** Every version of the rosters, one a line, what members named to follow, and the members of the newest. */
export function rostersText({ chain, answer }: Rosters): string {
  const lines = chain.rosters.map((roster, i) => {
    const standing = answer === null ? '' : `  ${standingOf(roster.version, answer)}`;
    return `${roster.version}  ${chain.hashes[i] ?? ''}  ${changeText(roster, chain.rosters[i - 1])}${standing}`;
  });
  const named = answer?.named.map(({ hash, by }) => {
    return `named to follow: ${hash} by ${by.join(' ')}: ${by.length} of ${answer.majority}`;
  });
  return [...lines, ...(named ?? []), '', membersText(chain.current), fingerprintText(chain.genesis)].join('\n');
}

/** A federation's fingerprint, and the words that it is read out by. */
export function fingerprintText(genesis: Sha256Hash): string {
  return `fingerprint ${genesis}\nin words    ${fingerprintWords(nativeSuite, genesis).join(' ')}`;
}

function standingOf(version: number, { decided }: RostersAnswer): string {
  const at = decided[version - 1];
  if (at === undefined) return 'not in force here yet';
  return at === null ? 'signed by all its members' : `in force since ${at}`;
}

/** A proposal, and what it changes. `before`: the roster that it follows, where it is known. */
export function proposalText(statement: string, roster: Roster, before: Roster | undefined): string {
  const isUnknown = roster.version > 1 && before === undefined;
  return [
    `roster ${roster.version}  ${hashText(nativeSuite, statement)}`,
    `change: ${isUnknown ? 'name the rosters before it with --roster, --home or --node' : changeText(roster, before)}`,
    membersText(roster),
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

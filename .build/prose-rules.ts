/**
 * The constructions that the style guide (src/docs/contributing/style.md) replaces and that a regular expression finds
 * without false alarms. A finding names what to write instead.
 */

export type ProseRule = {
  /** The advice that a finding prints. */
  readonly write: string;
  readonly pattern: RegExp;
};

const SENTENCE_START = '(?:^|[.;:!?] )';

export const PROSE_RULES: readonly ProseRule[] = [
  { write: 'report, notify, return (not: tell)', pattern: /\b(tells?|told|telling)\b/i },
  { write: 'receive, read (not: hear)', pattern: /\b(hears?|heard|hearing|deaf)\b/i },
  { write: 'continue, resume, restart (not: go on, take up)', pattern: goOn() },
  { write: 'the actor (not: whoever, nobody)', pattern: namelessActor() },
  { write: 'a noun at the start (not: What is …)', pattern: relativeStart() },
  {
    write: 'a subject at the start (not: Of …, With those …)',
    pattern: /^(Of|With those|By which|As it is|Those)\b/,
  },
  { write: 'again, in addition to, alongside (not: anew, besides)', pattern: /\b(anew|besides?)\b/i },
  {
    write: 'release, return (not: let go, give back)',
    pattern: /\b(lets?|letting) (it |them )?go\b|\bg[ia]ven? back\b/i,
  },
  { write: 'abandoned, permanently (not: given up, for good)', pattern: /\b(given up|for good)\b/i },
  { write: 'inactive, idle, persisted (not: at rest, dormant)', pattern: /\b(at rest|dormant)\b/i },
  { write: 'separate, dedicated (not: of its own)', pattern: /\bof (its|their|one's) own\b/i },
  { write: 'automatically (not: by itself)', pattern: /\bby (itself|themselves)\b/i },
  {
    write: 'deleted, removed, closed (not: is gone)',
    pattern: /\b(is|are|was|were|be|been|has|have|had) gone\b/,
  },
  {
    write: 'waiting for a concurrency slot (not: in line)',
    pattern: /\b(waits?|waiting|stands?) in line\b|\blin(ed|es|ing) up\b/i,
  },
  { write: 'event-loop tick (not: turn of the loop)', pattern: /\bturns? of the (event )?loop\b/i },
  { write: 'CPU time (not: processor time)', pattern: /\bprocessor time\b/i },
  { write: 'the moment (not: meanwhile)', pattern: /\bmeanwhile\b/i },
  { write: 'no longer (not: any more)', pattern: /\bany more\b/i },
  { write: 'nevertheless (not: all the same)', pattern: /\ball the same\b/i },
  { write: 'is interrupted (not: breaks off)', pattern: /\b(breaks?|breaking|broke|broken) off\b/i },
  { write: 'retracted, removed (not: taken back)', pattern: /\b(takes?|taking|taken|took) back\b/i },
  { write: 'occurs, is stored (not: is there twice)', pattern: /\b(is|are|was|were) there (once|twice)\b/i },
  { write: 'American spelling', pattern: britishSpelling() },
];

/** Further rules for messages of assertions, which are read without their code. */
const ASSERTION_RULES: readonly ProseRule[] = [
  {
    write: 'a subject at the start (not: it is over, also after a restart)',
    pattern: /^(it|its|they|them|those|also|and|nor|yet|so|none|one that|what|who) /i,
  },
];

/** The message of a ticket that waits for an account is fixed by the protocol. */
function goOn(): RegExp {
  return /(?<!Connect '[^']*' to )\b(goes|go|went|gone|going) on\b|\b(takes?|taking|taken|took) (it |them |that )?up\b(?! to\b)/i;
}

function namelessActor(): RegExp {
  const alone = 'whoever|whomever|nobody|somebody|anybody|everybody|no one|someone|everyone|anyone';
  return new RegExp(`\\b(${alone})\\b|\\b(he|those|all|others?|one) who\\b|${SENTENCE_START}Who [a-z]`, 'i');
}

function britishSpelling(): RegExp {
  const words = 'behaviour|colour|neighbour|catalogue|centre|favour|honour|labelled|licence|programme';
  const stems = 'author|initial|normal|optim|recogn|serial|summar|visual';
  return new RegExp(`\\b(${words})[ds]?\\b|(${stems})is(e[drs]?|ing|ation)\\b`, 'i');
}

function relativeStart(): RegExp {
  const verbs = 'is|was|are|has|had|it|they|a|the|can|may|would|comes|goes|waits|[a-z]+s';
  return new RegExp(`${SENTENCE_START}What (${verbs}) (?!does$)`);
}

/** The rewrites for the constructions in a text. Code and citations are not prose. */
export function adviceFor(text: string, isAssertion = false): string[] {
  const prose = text.replace(/`[^`]*`/g, '`…`').replace(/"[^"]*"|“[^”]*”/g, '"…"');
  const rules = isAssertion ? [...PROSE_RULES, ...ASSERTION_RULES] : PROSE_RULES;
  return rules.filter(({ pattern }) => pattern.test(prose)).map(({ write }) => write);
}

/** The error message about a number of findings in a number of files, undefined if the check passes. */
export function verdict(files: number, findings: number): string | undefined {
  if (files === 0) return 'no file to check below the given paths';
  return findings > 0 ? `texts that do not follow src/docs/contributing/style.md: ${findings}` : undefined;
}

/**
 * The way of one number of the chain, from the first send of its commit until the outcome is certain (cluster.md 5.6).
 *
 * Guarantees: `applied` means that the rows are in the database; every other outcome means that they are not, and
 * never will be. A statement whose answer was lost may still be delivered, however late: that is a *copy*. While one
 * can exist, the refusal of a later copy proves nothing: the first may have been applied before, or may be applied
 * when the reason of the refusal has ended. So such a refusal settles nothing: the question does, or, for a commit
 * that the server does not take, a *void* commit that takes its number, and the next one, so that copies are refused by
 * the chain. The question for the next number distinguishes the void from the commit.
 * Relies on: a membership that has ended stays so, and no commit passes its fence; one commit of a member is under way.
 */

/** The answer of the server to a statement, or why there is none. */
export type SendResult =
  /** The function has returned, and the transaction is committed. */
  | 'returned'
  /** There is no answer: the statement may have been applied, or may be later. */
  | 'lost'
  /** There was no connection, so nothing was sent. */
  | 'unsent'
  /** Another transaction was in the way, such as an older copy that hangs in the server. */
  | 'contended'
  /** The number is in the chain. */
  | 'taken'
  | 'fenced'
  /** The number before is not in the chain: the database is older than what it had acknowledged. */
  | 'behind'
  /** Something in the rows cannot be stored. */
  | 'faulty'
  /** The server takes no writes. */
  | 'unwritable';

/** The member and its chain as the database has them, in one snapshot. */
export type Answer = {
  isGone: boolean;
  /** Whether the number that was asked for is in the chain. */
  isHere: boolean;
  /** Whether the number before it is. */
  isBeforeHere: boolean;
};

export type SettleEvent =
  | { type: 'sent'; result: SendResult }
  | { type: 'asked'; answer: Answer }
  | { type: 'unanswered' };

export type Outcome = 'applied' | 'fenced' | 'behind' | 'faulty' | 'unwritable';

export type SettleState =
  /** The commit is sent. `tries`: how often it was contended since the last question. */
  | { at: 'sending'; tries: number; hasCopies: boolean }
  /** The question for the number is sent. */
  | { at: 'asking'; hasCopies: boolean }
  /** The void commit is sent. `outcome`: of the commit, once the void one has taken its number. */
  | { at: 'voiding'; outcome: Refusal }
  /** The question for the number behind is sent, which only the void commit takes. */
  | { at: 'askingVoid'; outcome: Refusal }
  /** `numbers`: how many of the chain are taken. */
  | { at: 'settled'; outcome: Outcome; numbers: 0 | 1 | 2 };

/** Why the server does not take a commit. */
type Refusal = Extract<Outcome, 'faulty' | 'unwritable'>;

export const FIRST_STATE: SettleState = { at: 'sending', tries: 0, hasCopies: false };

/** How often a contended commit is sent before the database is asked. */
export const MOST_TRIES = 5;

const settled = (outcome: Outcome, numbers: 0 | 1 | 2 = 0): SettleState => ({
  at: 'settled',
  outcome,
  numbers,
});

/** Returns the next state. An event that the state does not expect leaves it as it is. */
export const settle = (state: SettleState, event: SettleEvent): SettleState => {
  if (state.at === 'sending' && event.type === 'sent') return AFTER_SEND[event.result](state);
  if (state.at === 'voiding' && event.type === 'sent') return AFTER_VOID[event.result](state);
  if (state.at === 'asking' && event.type === 'asked') return afterQuestion(state, event.answer);
  if (state.at === 'askingVoid' && event.type === 'asked') return afterVoidQuestion(state, event.answer);
  return state;
};

type Sending = Extract<SettleState, { at: 'sending' }>;

const ask = ({ hasCopies }: { hasCopies: boolean }): SettleState => ({ at: 'asking', hasCopies });

const AFTER_SEND: Record<SendResult, (state: Sending) => SettleState> = {
  returned: () => settled('applied', 1),
  lost: () => ask({ hasCopies: true }),
  unsent: ask,
  contended: ({ tries, hasCopies }) =>
    tries + 1 < MOST_TRIES ? { at: 'sending', tries: tries + 1, hasCopies } : ask({ hasCopies }),
  taken: ask,
  fenced: (state) => (state.hasCopies ? ask(state) : settled('fenced')),
  behind: (state) => (state.hasCopies ? ask(state) : settled('behind')),
  faulty: (state) => refuse(state, 'faulty'),
  // The chain may have space where the rows do not.
  unwritable: (state) => refuse(state, 'unwritable'),
};

const refuse = ({ hasCopies }: Sending, outcome: Refusal): SettleState =>
  hasCopies ? { at: 'voiding', outcome } : settled(outcome);

const afterQuestion = (
  { hasCopies }: { hasCopies: boolean },
  { isHere, isGone, isBeforeHere }: Answer,
): SettleState => {
  if (isHere) return settled('applied', 1);
  if (isGone) return settled('fenced');
  if (!isBeforeHere) return settled('behind');
  return { at: 'sending', tries: 0, hasCopies };
};

type Voiding = { outcome: Refusal };

const sendVoid = ({ outcome }: Voiding): SettleState => ({ at: 'voiding', outcome });
const askForVoid = ({ outcome }: Voiding): SettleState => ({ at: 'askingVoid', outcome });

const AFTER_VOID: Record<SendResult, (state: Voiding) => SettleState> = {
  returned: ({ outcome }) => settled(outcome, 2),
  lost: askForVoid,
  unsent: askForVoid,
  contended: sendVoid,
  taken: askForVoid,
  fenced: askForVoid,
  behind: () => settled('behind'),
  faulty: sendVoid,
  unwritable: sendVoid,
};

/** The question was for the number behind, so the number itself is the one before. */
const afterVoidQuestion = (state: Voiding, { isHere, isGone, isBeforeHere }: Answer): SettleState => {
  if (isHere) return settled(state.outcome, 2);
  if (isBeforeHere) return settled('applied', 1);
  return isGone ? settled('fenced') : sendVoid(state);
};

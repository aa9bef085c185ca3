import { useState } from 'react';
import { useAtom } from '../../data/use-atom.ts';
import { visibleText } from '../../data/visible-text.ts';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions, DialogClose } from '../../design/Dialog.tsx';
import { TextField } from '../../design/Inputs.tsx';
import { Facts } from '../../design/Layout.tsx';
import { Ago } from '../../design/Time.tsx';
import { WholeJson } from '../../design/WholeJson.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useWork } from '../../feedback/use-work.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { runsChanged, sendInput } from '../../run-records/control.ts';
import { RunLink } from '../../run-records/RunChip.tsx';
import { TicketContent } from '../../run-records/TicketContent.tsx';
import { UserLink } from '../users/UserLink.tsx';
import { Did } from './Decision.tsx';
import { type Sent, sent } from './decisions.ts';
import css from './Inbox.module.css';
import { TicketLines } from './TicketLines.tsx';
import texts from './texts.json' with { type: 'json' };
import type { Open } from './tickets.ts';

/** The decisions that were sent from this page, and what can still be corrected. */

/** A denied call can no longer be executed, but the agent can be asked to call the tool again. */
const Correction = (props: { open: Open; isWaiting: boolean; onClose: () => void }) => {
  const t = useTexts(texts);
  const { open, isWaiting, onClose } = props;
  const [said, say] = useState(t('correct.usual', { tool: open.ticket.tool_name }));
  const [isBusy, run] = useWork();
  const send = async (): Promise<void> => {
    await sendInput(open.runId, said, 'live_then_queue').finally(runsChanged);
    toast('success', t('correct.done'));
    onClose();
  };
  return (
    <>
      <TextField
        label={t('correct.message')}
        hint={t(isWaiting ? 'correct.waits' : 'correct.hint')}
        rows={2}
        value={said}
        onChange={say}
      />
      <DialogActions>
        <Button data-autofocus onClick={onClose}>
          {t('close')}
        </Button>
        <Button tone="primary" disabled={isBusy || isWaiting || said.trim() === ''} onClick={() => run(send)}>
          {t('correct.send')}
        </Button>
      </DialogActions>
    </>
  );
};

const SentDialog = (props: { one: Sent; tickets: readonly Open[]; onClose: () => void }) => {
  const t = useTexts(texts);
  const { one, tickets, onClose } = props;
  const { open, wish, outcome } = one;
  const { ticket, runId } = open;
  const isDenied = wish.do === 'deny';
  const content = wish.do === 'answer' ? wish.value : wish.do === 'approve' ? wish.arguments : undefined;
  return (
    <Dialog title={visibleText(ticket.tool_name)} size={640} onClose={onClose}>
      <Facts
        rows={[
          [t('decision'), <Did key="did" outcome={outcome} />],
          isDenied && wish.reason !== '' && [t('sent.reason'), wish.reason],
          content !== undefined && [t('sent.content'), <WholeJson key="content" value={content} />],
          [t('argumentsOf'), <TicketContent key="arguments" ticket={ticket} />],
          [t('agent'), open.agentId],
          open.user !== undefined && [t('for'), <UserLink key="for" id={open.user} />],
          [t('run'), <RunLink key="run" id={runId} />],
        ]}
      />
      <p>{t(isDenied ? 'sent.denied' : 'sent.approved')}</p>
      {isDenied ? (
        <Correction
          open={open}
          isWaiting={tickets.some((other) => other.runId === runId && other.key !== open.key)}
          onClose={onClose}
        />
      ) : (
        <DialogClose onClose={onClose} />
      )}
    </Dialog>
  );
};

/** @param tickets the open tickets: a message to a run that waits would withdraw its other calls */
export const SentDecisions = ({ tickets }: { tickets: readonly Open[] }) => {
  const t = useTexts(texts);
  const all = useAtom(sent);
  const [query, setQuery] = useQueryState();
  const shown = all.find(({ open }) => open.key === query.sent);
  if (all.length === 0) return null;
  return (
    <section aria-label={t('sent')}>
      <header className={`bar spread ${css.group}`}>
        <h2>
          {t('sent')} <span>{t('sent.note')}</span>
        </h2>
      </header>
      <ul>
        {all.map(({ open, outcome, at }) => (
          <li key={open.key} className={css.item}>
            <button type="button" className="double" onClick={() => setQuery({ sent: open.key })}>
              <TicketLines open={open}>
                <Did outcome={outcome} />
                <Ago at={at} />
              </TicketLines>
            </button>
          </li>
        ))}
      </ul>
      {shown && <SentDialog one={shown} tickets={tickets} onClose={() => setQuery({ sent: undefined })} />}
    </section>
  );
};

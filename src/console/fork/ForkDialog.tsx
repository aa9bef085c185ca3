import { useEffect, useState } from 'react';
import { useResource } from '../data/queries.ts';
import { NamedRecord, recordsOf } from '../data/records.ts';
import { useIsOffered } from '../data/test-agents.ts';
import { Button } from '../design/Button.tsx';
import { Dialog, DialogActions } from '../design/Dialog.tsx';
import { Field } from '../design/Field.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { toastError } from '../feedback/toasts.ts';
import { useTexts } from '../i18n/locale.ts';
import { useGo } from '../navigation/links.tsx';
import { forkThread, type Line, linesUpTo, readUpTo } from './fork.ts';
import { texts } from './texts.ts';

const AGENTS = recordsOf('agents', NamedRecord);

/** The messages that a fork can start from; undefined while they are being read. */
const useLines = (threadId: string, seq: number): readonly Line[] | undefined => {
  const [lines, setLines] = useState<readonly Line[]>();
  useEffect(() => {
    let isWanted = true;
    readUpTo(threadId, seq).then((messages) => {
      if (isWanted) setLines(linesUpTo(messages, seq));
    }, toastError);
    return () => {
      isWanted = false;
    };
  }, [threadId, seq]);
  return lines;
};

const Form = ({
  threadId,
  agentId,
  lines,
  onClose,
}: {
  threadId: string;
  agentId: string;
  lines: readonly Line[];
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const go = useGo();
  const isOffered = useIsOffered();
  const agents =
    useResource(AGENTS)
      .data?.map(({ id }) => id)
      .filter(isOffered) ?? [];
  const [agent, setAgent] = useState(agentId);
  const [question, setQuestion] = useState(lines.at(-1)?.content ?? '');
  const [busy, setBusy] = useState(false);
  const ask = async (): Promise<void> => {
    setBusy(true);
    try {
      const before = lines.slice(0, -1);
      const { thread_id } = await forkThread(threadId, agent, [
        ...before,
        { role: 'user', content: question },
      ]);
      onClose();
      go(`/threads/${encodeURIComponent(thread_id)}?beside=${encodeURIComponent(threadId)}`);
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  return (
    <>
      <p>{t('text')}</p>
      {lines.length > 1 && <p>{t('before', { count: lines.length - 1 })}</p>}
      <Field label={t('question')} required>
        {(control) => (
          <textarea
            {...control}
            rows={5}
            data-autofocus
            value={question}
            onChange={(event) => setQuestion(event.target.value)}
          />
        )}
      </Field>
      <Field label={t('agent')}>
        {(control) => (
          <select {...control} value={agent} onChange={(event) => setAgent(event.target.value)}>
            {[...new Set([agentId, ...agents])].map((id) => (
              <option key={id} value={id}>
                {id}
              </option>
            ))}
          </select>
        )}
      </Field>
      <DialogActions>
        <Button tone="primary" disabled={busy || question.trim() === ''} onClick={() => void ask()}>
          {t('go')}
        </Button>
      </DialogActions>
    </>
  );
};

/** Asks another question at a point of a conversation, in a separate thread. */
export const ForkDialog = (props: {
  threadId: string;
  agentId: string;
  /** Sequence number of the last common message. */
  seq: number;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const lines = useLines(props.threadId, props.seq);
  return (
    <Dialog title={t('title')} onClose={props.onClose} size={560}>
      {lines === undefined && <SkeletonRows rows={3} />}
      {lines?.length === 0 && <p>{t('none')}</p>}
      {lines && lines.length > 0 && (
        <Form threadId={props.threadId} agentId={props.agentId} lines={lines} onClose={props.onClose} />
      )}
    </Dialog>
  );
};

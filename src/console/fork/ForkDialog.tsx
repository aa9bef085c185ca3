import { useEffect, useState } from 'react';
import { useResource } from '../data/queries.ts';
import { NamedRecord, recordsOf } from '../data/records.ts';
import { Button } from '../design/Button.tsx';
import { Dialog, DialogActions } from '../design/Dialog.tsx';
import { Field } from '../design/Field.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { useGo } from '../shell/links.tsx';
import { toastError } from '../shell/toasts.ts';
import { forkThread, type Line, linesUpTo, readUpTo } from './fork.ts';
import { texts } from './texts.ts';

const AGENTS = recordsOf('agents', NamedRecord);

/** Undefined while they are read. */
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
  const agents = useResource(AGENTS).data?.map(({ id }) => id) ?? [];
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

/** Asks something else at a point of a conversation, in a conversation of its own. */
export const ForkDialog = (props: {
  threadId: string;
  agentId: string;
  /** Of the last message that both have. */
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

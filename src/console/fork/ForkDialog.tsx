import type { UIMessage } from 'ai';
import { useEffect, useRef, useState } from 'react';
import { filesOf, textOf } from '../chat/blocks.ts';
import { FileBlock } from '../chat/FileBlock.tsx';
import { useResource } from '../data/queries.ts';
import { NamedRecord, recordsOf } from '../data/records.ts';
import { useIsOffered } from '../data/test-agents.ts';
import { Dialog } from '../design/Dialog.tsx';
import { SelectField, TextField } from '../design/Inputs.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { FormDialog } from '../feedback/FormDialog.tsx';
import { toastError } from '../feedback/toasts.ts';
import { useTexts } from '../i18n/locale.ts';
import { useGo } from '../navigation/links.tsx';
import { rowsOf } from '../thread-messages/conversation.ts';
import { askInFork, countBefore, forkThread, readBack } from './fork.ts';
import texts from './texts.json' with { type: 'json' };

/** Width in pixels. */
const SIZE = 560;

const AGENTS = recordsOf('agents', NamedRecord);

/** The message that the fork replaces, and the number of visible messages before it. */
type Start = { question: UIMessage; seq: number; before: number };

const readStart = async (threadId: string, seq: number): Promise<Start | 'none'> => {
  const message = await readBack(threadId, ({ role }) => role === 'user', seq + 1);
  const [row] = message ? rowsOf([message]) : [];
  if (!message || !row) return 'none';
  return { question: row.message, seq: message.seq, before: await countBefore(threadId, message.seq) };
};

/** Undefined while messages are being read. */
const useStart = (threadId: string, seq: number): Start | 'none' | undefined => {
  const [start, setStart] = useState<Start | 'none'>();
  useEffect(() => {
    let isWanted = true;
    readStart(threadId, seq).then((found) => {
      if (isWanted) setStart(found);
    }, toastError);
    return () => {
      isWanted = false;
    };
  }, [threadId, seq]);
  return start;
};

type Place = { threadId: string; agentId: string; onClose: () => void };

const Form = ({ threadId, agentId, onClose, start: { question, seq, before } }: Place & { start: Start }) => {
  const t = useTexts(texts);
  const go = useGo();
  const isOffered = useIsOffered();
  const agents = (useResource(AGENTS).data ?? []).map(({ id }) => id).filter(isOffered);
  const [agent, setAgent] = useState(agentId);
  const [said, setSaid] = useState(() => textOf(question));
  const files = filesOf(question);
  /** A fork whose message was not accepted is used again. */
  const made = useRef<string>(undefined);
  const ask = async (): Promise<void> => {
    made.current ??= await forkThread(threadId, seq - 1);
    const { thread_id } = await askInFork({ threadId: made.current, agentId: agent, said, files });
    go(`/threads/${encodeURIComponent(thread_id)}?beside=${encodeURIComponent(threadId)}`);
  };
  return (
    <FormDialog
      title={t('title')}
      confirm={t('common.askInAFork')}
      size={SIZE}
      isOff={said.trim() === '' && files.length === 0}
      act={ask}
      onClose={onClose}
    >
      <p>{t('text')}</p>
      {before > 0 && <p>{t('before', { count: before })}</p>}
      <TextField
        label={t('question')}
        required={files.length === 0}
        rows={5}
        data-autofocus
        value={said}
        onChange={setSaid}
      />
      {files.map((file) => (
        <FileBlock key={file.url} file={file} />
      ))}
      <SelectField
        label={t('common.agent')}
        value={agent}
        options={[...new Set([agentId, ...agents])]}
        onChange={setAgent}
      />
    </FormDialog>
  );
};

/** Asks another question at a point of a conversation, in a separate thread. */
export const ForkDialog = ({ seq, ...place }: Place & { seq: number }) => {
  const t = useTexts(texts);
  const start = useStart(place.threadId, seq);
  if (typeof start === 'object') return <Form {...place} start={start} />;
  return (
    <Dialog title={t('title')} onClose={place.onClose} size={SIZE}>
      {start === 'none' ? <p>{t('none')}</p> : <SkeletonRows rows={3} />}
    </Dialog>
  );
};

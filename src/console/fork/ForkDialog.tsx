import type { UIMessage } from 'ai';
import { useEffect, useState } from 'react';
import { filesOf, textOf } from '../chat/blocks.ts';
import { FileBlock } from '../chat/FileBlock.tsx';
import { useResource } from '../data/queries.ts';
import { NamedRecord, recordsOf } from '../data/records.ts';
import { useIsOffered } from '../data/test-agents.ts';
import { Button } from '../design/Button.tsx';
import { Dialog, DialogActions } from '../design/Dialog.tsx';
import { SelectField, TextField } from '../design/Inputs.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { toastError } from '../feedback/toasts.ts';
import { useTexts } from '../i18n/locale.ts';
import { useGo } from '../navigation/links.tsx';
import { forkThread, MOST_REPEATED, messagesUpTo, readUpTo } from './fork.ts';
import { texts } from './texts.ts';

const AGENTS = recordsOf('agents', NamedRecord);

type Start = readonly UIMessage[] | 'too long';

/** The messages that a fork can start from; undefined while they are being read. */
const useStart = (threadId: string, seq: number): Start | undefined => {
  const [start, setStart] = useState<Start>();
  useEffect(() => {
    let isWanted = true;
    readUpTo(threadId, seq).then((found) => {
      if (isWanted) setStart(found.length < MOST_REPEATED ? messagesUpTo(found, seq) : 'too long');
    }, toastError);
    return () => {
      isWanted = false;
    };
  }, [threadId, seq]);
  return start;
};

type Place = {
  threadId: string;
  agentId: string;
  onClose: () => void;
};

const Form = ({
  threadId,
  agentId,
  onClose,
  before,
  question,
}: Place & { before: readonly UIMessage[]; question: UIMessage }) => {
  const t = useTexts(texts);
  const go = useGo();
  const isOffered = useIsOffered();
  const agents = (useResource(AGENTS).data ?? []).map(({ id }) => id).filter(isOffered);
  const [agent, setAgent] = useState(agentId);
  const [said, setSaid] = useState(() => textOf(question));
  const [busy, setBusy] = useState(false);
  const files = filesOf(question);
  const ask = async (): Promise<void> => {
    setBusy(true);
    try {
      const { thread_id } = await forkThread({ threadId, agentId: agent, before, said, files });
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
      {before.length > 0 && <p>{t('before', { count: before.length })}</p>}
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
        label={t('agent')}
        value={agent}
        options={[...new Set([agentId, ...agents])]}
        onChange={setAgent}
      />
      <DialogActions>
        <Button
          tone="primary"
          disabled={busy || (said.trim() === '' && files.length === 0)}
          onClick={() => void ask()}
        >
          {t('go')}
        </Button>
      </DialogActions>
    </>
  );
};

/** Asks another question at a point of a conversation, in a separate thread. */
export const ForkDialog = ({ seq, ...place }: Place & { seq: number }) => {
  const t = useTexts(texts);
  const start = useStart(place.threadId, seq);
  const question = typeof start === 'object' ? start.at(-1) : undefined;
  return (
    <Dialog title={t('title')} onClose={place.onClose} size={560}>
      {start === undefined && <SkeletonRows rows={3} />}
      {start === 'too long' && <p>{t('long', { count: MOST_REPEATED })}</p>}
      {typeof start === 'object' &&
        (question ? <Form {...place} before={start.slice(0, -1)} question={question} /> : <p>{t('none')}</p>)}
    </Dialog>
  );
};

import type { FileUIPart } from 'ai';
import { useState } from 'react';
import { blockOf } from '../../chat/attachments.ts';
import { Composer } from '../../chat/Composer.tsx';
import { object, text } from '../../data/guard.ts';
import { invalidate } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { FilterSelect } from '../../design/Field.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useTexts } from '../../i18n/locale.ts';
import { INPUT_MODES, type InputMode, userMessage } from '../../run-records/control.ts';
import texts from './texts.json' with { type: 'json' };

const Accepted = object({ status: text });

/**
 * Sends a message to a thread, for the next run or the current one. The typed text is kept if the thread is deleted.
 */
export const ThreadComposer = ({ threadId, isGone }: { threadId: string; isGone: boolean }) => {
  const t = useTexts(texts);
  const [mode, setMode] = useState<InputMode>('queue');
  const tell = async (said: string, files: FileUIPart[]): Promise<void> => {
    const body = { messages: [userMessage(said, files.map(blockOf))], mode };
    const path = pathOf`/v1/threads/${threadId}/messages`;
    const { status } = await send({ method: 'POST', path, body }, Accepted);
    toast('success', t(status === 'queued' ? 'say.queued' : 'say.sent'));
    invalidate(pathOf`/v1/threads/${threadId}`);
  };
  return (
    <Composer
      label={t('say.text')}
      isBusy={false}
      disabled={isGone}
      options={
        <FilterSelect
          label={t('say.how')}
          value={mode}
          options={INPUT_MODES.map((each) => [each, t(`say.${each}`)] as const)}
          onChange={(value) => setMode(INPUT_MODES.find((each) => each === value) ?? 'queue')}
        />
      }
      onSend={tell}
    />
  );
};

import { transcriptOf } from '../chat/blocks.ts';
import type { Talk } from '../chat/talk.ts';
import { redactText } from '../data/redact-text.ts';
import { IconButton } from '../design/Button.tsx';
import { CopyButton } from '../design/Copy.tsx';
import { useTexts } from '../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

export const ConversationTools = ({ talk }: { talk: Talk & { begin(): void } }) => {
  const t = useTexts(texts);
  if (talk.messages.length === 0) return null;
  return (
    <>
      <CopyButton text={() => redactText(transcriptOf(talk.messages))} label={t('copy')} />
      <IconButton small icon="refresh" label={t('common.newChat')} onClick={talk.begin} />
    </>
  );
};

import type { ReactNode } from 'react';
import { Composer } from '../chat/Composer.tsx';
import { Conversation, useLastPrompt } from '../chat/Conversation.tsx';
import type { CallPart } from '../chat/call.ts';
import type { Talk } from '../chat/talk.ts';
import { useResource } from '../data/queries.ts';
import { Button } from '../design/Button.tsx';
import { Loaded } from '../design/Loaded.tsx';
import { EmptyState, Notice } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { ActionCard } from './ActionCard.tsx';
import { type AdminAssistant, adminAssistant } from './state.ts';
import texts from './texts.json' with { type: 'json' };

const SUGGESTIONS = ['suggest.1', 'suggest.2', 'suggest.3', 'suggest.4'] as const;

const Welcome = ({ onAsk }: { onAsk: (text: string) => void }) => {
  const t = useTexts(texts);
  return (
    <EmptyState
      title={t('empty.title')}
      actions={
        <div className="stack offers">
          {SUGGESTIONS.map((key) => (
            <Button key={key} onClick={() => onAsk(t(key))}>
              {t(key)}
            </Button>
          ))}
        </div>
      }
    >
      {t('empty.text')}
    </EmptyState>
  );
};

const Disabled = ({ assistant }: { assistant: AdminAssistant }) => {
  const t = useTexts(texts);
  return (
    <div className="inset fixed">
      <Notice
        tone="warn"
        title={t('disabled.title')}
        actions={
          <>
            <ScreenLink to="/providers">{t('disabled.providers')}</ScreenLink>
            <ScreenLink to="/models">{t('common.models')}</ScreenLink>
          </>
        }
      >
        {assistant.disabled_reason ?? t('disabled.text')}
      </Notice>
    </div>
  );
};

const actionCard = (part: CallPart): ReactNode => <ActionCard part={part} />;

/** The conversation, shared by the assistant's screen and its panel. */
export const AssistantTalk = ({ talk }: { talk: Talk }) => {
  const t = useTexts(texts);
  const query = useResource(adminAssistant);
  const last = useLastPrompt(talk.messages);
  return (
    <Loaded query={query} off={adminAssistant.off}>
      {(assistant) => (
        <>
          {!assistant.enabled && <Disabled assistant={assistant} />}
          <Conversation
            talk={talk}
            empty={assistant.enabled && <Welcome onAsk={(text) => talk.send(text, [])} />}
            extra={actionCard}
          />
          <div className="inset fixed">
            <Composer
              placeholder={t('placeholder')}
              isBusy={talk.isBusy}
              disabled={!assistant.enabled}
              last={last}
              onSend={talk.send}
              onStop={talk.stop}
            />
          </div>
        </>
      )}
    </Loaded>
  );
};

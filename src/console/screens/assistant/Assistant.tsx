import { AssistantTalk } from '../../assistant-chat/AssistantTalk.tsx';
import { ConversationTools } from '../../assistant-chat/ConversationTools.tsx';
import { useAssistant } from '../../assistant-chat/chat.ts';
import { Card, Page } from '../../design/Layout.tsx';
import { useTexts } from '../../i18n/locale.ts';
import css from './Assistant.module.css';
import { Settings } from './Settings.tsx';
import texts from './texts.json' with { type: 'json' };

export default function Assistant() {
  const t = useTexts(texts);
  const talk = useAssistant();
  return (
    <Page title={t('title')} purpose={t('purpose')}>
      <div className="aside">
        <Card
          title={t('conversation')}
          actions={<ConversationTools talk={talk} />}
          className={css.talk}
          flush
        >
          <AssistantTalk talk={talk} />
        </Card>
        <div className="stack" data-wide>
          <Settings />
        </div>
      </div>
    </Page>
  );
}

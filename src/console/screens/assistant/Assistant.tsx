import { AssistantTalk } from '../../assistant-chat/AssistantTalk.tsx';
import { ConversationTools } from '../../assistant-chat/ConversationTools.tsx';
import { useAssistant } from '../../assistant-chat/chat.ts';
import { Card, Page } from '../../design/Layout.tsx';
import look from '../../design/Look.module.css';
import { useTexts } from '../../i18n/locale.ts';
import css from './Assistant.module.css';
import { Settings } from './Settings.tsx';
import { texts } from './texts.ts';

export default function Assistant() {
  const t = useTexts(texts);
  const talk = useAssistant();
  return (
    <Page title={t('title')} purpose={t('purpose')}>
      <div className={look.aside}>
        <Card
          title={t('conversation')}
          actions={<ConversationTools talk={talk} />}
          className={css.talk}
          flush
        >
          <AssistantTalk talk={talk} />
        </Card>
        <div className={look.stack} data-wide>
          <Settings />
        </div>
      </div>
    </Page>
  );
}

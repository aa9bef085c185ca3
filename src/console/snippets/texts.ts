import { defineTexts } from '../i18n/texts.ts';

export const texts = defineTexts(
  {
    title: 'Call {agent} from elsewhere',
    label: 'Protocol',
    'kind.chat': 'AI SDK chat',
    'kind.runs': 'Runs',
    'kind.agui': 'AG-UI',
    'kind.a2a': 'A2A',
    'kind.client': 'Client',
    'kind.react': 'React',
  },
  {
    title: '从其他地方调用 {agent}',
    label: '协议',
    'kind.chat': 'AI SDK 对话',
    'kind.runs': '运行接口',
    'kind.agui': 'AG-UI',
    'kind.a2a': 'A2A',
    'kind.client': '客户端',
    'kind.react': 'React',
  },
);

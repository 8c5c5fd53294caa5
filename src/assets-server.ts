#!/usr/bin/env node
/** Chats and their assets, served to any MCP client. */
process.exitCode = 2;

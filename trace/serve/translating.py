"""Traces of other tools that a reader drops on the page: the server reads them for it."""

import http.server
import json
from http import HTTPStatus

from ..document.encoding import encode
from ..errors import LectureError, UsageError
from ..foreign.published import document_of
from ..said.media import Media

TRANSLATE = "/translate"
MAX_TRACE_BYTES = 200_000_000


class TranslatingHandler(http.server.SimpleHTTPRequestHandler):
    """Files, and documents of traces of other tools."""

    def is_called_by_own_name(self) -> bool:
        """Tell whether a browser that asks means us."""
        raise NotImplementedError

    def do_POST(self) -> None:
        """Answer with the document of a trace of another tool that a page was given. A page from
        elsewhere cannot ask: browsers ask us first whether it may send JSON, and we are silent."""
        length = self.headers.get("Content-Length", "")
        if self.path != TRANSLATE:
            self.send_error(HTTPStatus.NOT_IMPLEMENTED)
        elif not self.is_called_by_own_name():
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
        elif self.headers.get("Content-Type") != "application/json" or not length.isdigit():
            self.send_error(HTTPStatus.FORBIDDEN)
        elif int(length) > MAX_TRACE_BYTES:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            self._translate(self.rfile.read(int(length)))

    def _translate(self, data: bytes) -> None:
        try:
            answer, status = encode(document_of(data, "this file", Media())), HTTPStatus.OK
        except (UsageError, LectureError) as error:
            answer = json.dumps({"problem": str(error)}).encode()
            status = HTTPStatus.UNPROCESSABLE_ENTITY
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
